/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The netlink socket by which rdma(8) asks the kernel about devices. A memfd stands for it. When
 * the program sends a request, the memfd of the daemon's answer takes its number; the file offset
 * says how far the program has read.
 */
#include "client.h"

#include <lookup/lookup.h>
#include <own/real.h>
#include <message.h>
#include <proto.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Only rdma(8) asks, which opens few files. */
#define MAX_FDS 1024

static atomic_bool ours[MAX_FDS];

/* closefrom(), close_range() and dup2() are not interposed: the number may be a socket's by now. */
bool netlink_is(int fd)
{
	struct stat st;

	return fd >= 0 && fd < MAX_FDS && atomic_load_explicit(&ours[fd], memory_order_relaxed) &&
	       !real_stats()->fstat(fd, &st) && !S_ISSOCK(st.st_mode);
}

int netlink_open(int type)
{
	int fd = memfd_create("softhca-netlink", type & SOCK_CLOEXEC ? MFD_CLOEXEC : 0);

	if (fd >= MAX_FDS) {
		real()->close(fd);
		errno = EMFILE;
		return -1;
	}
	if (fd >= 0)
		atomic_store(&ours[fd], true);
	return fd;
}

void netlink_closed(int fd)
{
	if (fd >= 0 && fd < MAX_FDS)
		atomic_store(&ours[fd], false);
}

/* The file with the answer, or -errno. */
static int ask(const void *request, size_t length)
{
	struct softhca_welcome reply = { 0 };
	int sock = daemon_connect(place_dir());
	int answer = -1;
	int err;

	if (sock < 0)
		return sock;
	err = message_ask(sock, SOFTHCA_NETLINK, request, length);
	if (!err)
		err = daemon_receive(sock, &reply, sizeof(reply), &answer);
	if (!err)
		err = reply.status;
	if (!err && answer < 0)
		err = -EMFILE;
	real()->close(sock);
	if (err && answer >= 0)
		real()->close(answer);
	return err ? err : answer;
}

ssize_t netlink_send(int fd, const void *request, size_t length)
{
	int answer = ask(request, length);
	bool failed;

	if (answer < 0) {
		errno = -answer;
		return -1;
	}
	lseek(answer, 0, SEEK_SET);
	failed = dup3(answer, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0) < 0;
	real()->close(answer);
	return failed ? -1 : (ssize_t)length;
}

/* The length of the whole messages in @bytes: netlink never returns a part of one. */
static size_t whole_messages(const char *bytes, size_t length)
{
	size_t whole = 0;
	struct nlmsghdr header;

	while (length - whole >= sizeof(header)) {
		memcpy(&header, bytes + whole, sizeof(header));
		if (header.nlmsg_len < sizeof(header) ||
		    NLMSG_ALIGN(header.nlmsg_len) > length - whole)
			break;
		whole += NLMSG_ALIGN(header.nlmsg_len);
	}
	return whole;
}

/* Cuts a name that is too long, and gives its whole size, as the kernel does. */
static void give_name(void *name, socklen_t *size, uint32_t pid)
{
	const struct sockaddr_nl whole = { .nl_family = AF_NETLINK, .nl_pid = pid };

	if (name)
		memcpy(name, &whole, *size < sizeof(whole) ? *size : sizeof(whole));
	*size = sizeof(whole);
}

/* Never waits. Refuses all flags but MSG_DONTWAIT, also MSG_PEEK and MSG_TRUNC. */
ssize_t netlink_receive(int fd, struct msghdr *msg, int flags)
{
	ssize_t got;
	size_t whole;

	if (!msg->msg_iovlen || flags & ~MSG_DONTWAIT) {
		errno = flags & ~MSG_DONTWAIT ? EOPNOTSUPP : EINVAL;
		return -1;
	}
	got = pread(fd, msg->msg_iov[0].iov_base, msg->msg_iov[0].iov_len, lseek(fd, 0, SEEK_CUR));
	whole = got > 0 ? whole_messages(msg->msg_iov[0].iov_base, (size_t)got) : 0;
	if (!whole) {
		/* The kernel would wait for ever, or cut a message that does not fit. */
		errno = EAGAIN;
		return -1;
	}
	lseek(fd, (off_t)whole, SEEK_CUR);
	give_name(msg->msg_name, &msg->msg_namelen, 0);
	msg->msg_controllen = 0;
	msg->msg_flags = 0;
	return (ssize_t)whole;
}

int netlink_name(struct sockaddr *name, socklen_t *size)
{
	give_name(name, size, (uint32_t)getpid());
	return 0;
}
