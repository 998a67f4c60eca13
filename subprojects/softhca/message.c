/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Messages and descriptors over the daemon's socket, for both of its sides. */
#include "message.h"
#include "dir.h"
#include "proto.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int message_connect(const char *directory, int seconds)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = seconds };
	int err = dir_join(address.sun_path, sizeof(address.sun_path), directory, SOFTHCA_SOCKET);
	int sock;

	if (err)
		return err;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	/* Connecting waits, too, while the daemon does not accept and its queue is full. */
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	while (connect(sock, (struct sockaddr *)&address, sizeof(address))) {
		if (errno == EINTR)
			continue;
		err = -errno;
		close(sock);
		return err;
	}
	return sock;
}

int message_send(int sock, const void *data, size_t length, int fd, int flags)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec iov = { (void *)data, length };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg = (void *)control;

	if (fd >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL | flags) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int message_ask(int sock, uint32_t kind, const void *question, size_t length)
{
	struct {
		struct softhca_hello hello;
		char question[SOFTHCA_MAX_COMMAND - sizeof(struct softhca_hello)];
	} message = { .hello = { SOFTHCA_MAGIC, SOFTHCA_VERSION, .kind = kind } };

	if (length > sizeof(message.question))
		return -EMSGSIZE;
	memcpy(message.question, question, length);
	return message_send(sock, &message, sizeof(message.hello) + length, -1, 0);
}

/* The first descriptor of a message, or -1. The control buffer has room for more. */
static int take_descriptor(struct msghdr *msg)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
	int first = -1;

	if (!cmsg || cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
		return -1;
	for (size_t at = CMSG_LEN(0); at + sizeof(int) <= cmsg->cmsg_len; at += sizeof(int)) {
		int fd;

		memcpy(&fd, (char *)cmsg + at, sizeof(fd));
		if (first < 0)
			first = fd;
		else
			close(fd);
	}
	return first;
}

ssize_t message_receive(int sock, void *data, size_t room, int *fd, int flags)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { data, room };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | flags);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	*fd = take_descriptor(&msg);
	return msg.msg_flags & MSG_TRUNC ? -EMSGSIZE : got;
}
