/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Messages and descriptors over a context's socket. */
#include "client.h"

#include <softhca/dir.h>
#include <softhca/proto.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Out of the way of programs that count on low numbers, or close everything up to some small one. */
#define HIGH_FD 700

int wire_move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	real()->close(fd);
	return high;
}

int wire_connect(const char *directory)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int error;
	int sock;

	if (dir_join(address.sun_path, sizeof(address.sun_path), directory, SOFTHCA_SOCKET))
		return -ENAMETOOLONG;
	sock = real()->socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	while (connect(sock, (struct sockaddr *)&address, sizeof(address))) {
		if (errno == EINTR)
			continue;
		error = errno;
		real()->close(sock);
		return -error;
	}
	return wire_move_high(sock);
}

int wire_send(int sock, const void *data, size_t length, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec iov = { (void *)data, length };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *cmsg = (struct cmsghdr *)control;

		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int wire_receive(int sock, void *data, size_t length, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { data, length };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *cmsg;
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(cmsg), sizeof(int));
	/* A daemon that is gone reads as the end of the connection: the device is dead. */
	return (size_t)got == length ? 0 : -EIO;
}
