/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the preload interposes of sockets: the netlink interface of RDMA. Everything else goes to
 * the next definition.
 */
#include "client.h"

#include <errno.h>
#include <linux/netlink.h>

#define HOOK __attribute__((visibility("default")))

HOOK int socket(int domain, int type, int protocol)
{
	if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
		return real()->socket(domain, type, protocol);
	if (!place_dir()) {
		place_explain();
		return real()->socket(domain, type, protocol);
	}
	/*
	 * libibverbs asks by way of libnl. Without netlink it looks into sysfs, which has all that
	 * it needs; with it, it would ask for more than is answered here.
	 */
	if (!real_calls_from(__builtin_return_address(0), "libnl-"))
		return netlink_open(type);
	errno = EPROTONOSUPPORT;
	return -1;
}

HOOK int bind(int fd, const struct sockaddr *name, socklen_t size)
{
	return netlink_is(fd) ? 0 : real()->bind(fd, name, size);
}

HOOK int getsockname(int fd, struct sockaddr *name, socklen_t *size)
{
	return netlink_is(fd) ? netlink_name(name, size) : real()->getsockname(fd, name, size);
}

HOOK int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
	return netlink_is(fd) ? 0 : real()->setsockopt(fd, level, option, value, size);
}

HOOK ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *name,
		    socklen_t size)
{
	return netlink_is(fd) ? netlink_send(fd, data, length)
			      : real()->sendto(fd, data, length, flags, name, size);
}

HOOK ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	return netlink_is(fd) ? netlink_receive(fd, msg) : real()->recvmsg(fd, msg, flags);
}
