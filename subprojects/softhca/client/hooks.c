/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Hooks of functions that take a descriptor or memory, and of libibverbs. */
#include "hooks.h"

#include <own/code.h>
#include <rings/arena.h>
#include <rings/bypass.h>
#include <rings/records.h>

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* AddressSanitizer refuses to start with another library before its own, unless told not to. */
HOOK const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

HOOK int close(int fd)
{
	struct dev *dev = dev_get(fd);
	int result;

	netlink_closed(fd);
	if (!dev)
		return real()->close(fd);
	result = dev_close(dev, fd);
	dev_put(dev);
	return result;
}

/*
 * A cancellation point, as write(2) is one: before the command, and also after it, because the
 * signal may come when the kernel has done its work and the thread is not back yet.
 */
HOOK ssize_t write(int fd, const void *data, size_t length)
{
	struct dev *dev;
	ssize_t result;

	pthread_testcancel();
	dev = dev_get(fd);
	if (!dev)
		return real()->write(fd, data, length);
	result = dev_write(dev, data, length);
	dev_put(dev);
	pthread_testcancel();
	return result;
}

/* Whether the call is ours: *memory = its result. */
static bool map_ours(void **memory, const void *address, size_t length, int prot, int flags, int fd,
		     off64_t offset, const void *caller)
{
	struct dev *dev;

	*memory = MAP_FAILED;
	if (bypass_is_probe(address, length, fd))
		return true;
	dev = dev_get(fd);
	if (dev) {
		*memory = dev_mmap(dev, length, prot, flags, offset);
		dev_put(dev);
		return true;
	}
	/* libmlx4 asks for anonymous memory for exactly two things: rings and doorbell records. */
	if (address || flags != (MAP_PRIVATE | MAP_ANONYMOUS) ||
	    prot != (PROT_READ | PROT_WRITE) || !is_in_provider(PROVIDER_MLX4, caller))
		return false;
	*memory = arena_alloc(length);
	return true;
}

HOOK void *mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *ours;

	if (map_ours(&ours, address, length, prot, flags, fd, offset, __builtin_return_address(0)))
		return ours;
	return real()->mmap(address, length, prot, flags, fd, offset);
}

HOOK void *mmap64(void *address, size_t length, int prot, int flags, int fd, off64_t offset)
{
	void *ours;

	if (map_ours(&ours, address, length, prot, flags, fd, offset, __builtin_return_address(0)))
		return ours;
	return real()->mmap64(address, length, prot, flags, fd, offset);
}

/* libmlx5 asks here for a page of doorbell records. */
HOOK int posix_memalign(void **memory, size_t alignment, size_t size)
{
	int err = real()->posix_memalign(memory, alignment, size);

	if (!err && is_in_provider(PROVIDER_MLX5, __builtin_return_address(0)))
		records_taken(*memory);
	return err;
}

HOOK int flock(int fd, int operation)
{
	struct dev *dev = dev_get(fd);
	int result;

	if (!dev)
		return real()->flock(fd, operation);
	result = dev_flock(dev, fd, operation);
	dev_put(dev);
	return result;
}

HOOK int munmap(void *address, size_t length)
{
	arena_unmapped(address, length);
	return real()->munmap(address, length);
}

/* ---- sockets: the netlink interface of RDMA, as far as rdma(8) by libmnl calls it ---- */

HOOK int socket(int domain, int type, int protocol)
{
	if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
		return real()->socket(domain, type, protocol);
	if (!place_dir()) {
		place_explain();
		return real()->socket(domain, type, protocol);
	}
	/* Without netlink libibverbs looks into sysfs, which has all that it needs. */
	if (!is_in_libnl(__builtin_return_address(0)))
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
	return netlink_is(fd) ? netlink_receive(fd, msg, flags) : real()->recvmsg(fd, msg, flags);
}

/* ---- libmlx4 asks for the Ethernet address of a GID, which the kernel does not know ---- */

#define NO_VLAN 0xffff

typedef int resolve_fn(struct ibv_context *context, struct ibv_ah_attr *attr, uint8_t eth_mac[6],
		       uint16_t *vid);
HOOK resolve_fn ibv_resolve_eth_l2_from_gid;

/* The emulated wire finds the receiver by its GID, so any address will do. */
HOOK int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
				     uint8_t eth_mac[6], uint16_t *vid)
{
	resolve_fn *next;

	*(void **)&next = place_dir() ? NULL : real_verb("ibv_resolve_eth_l2_from_gid");
	if (next)
		return next(context, attr, eth_mac, vid);
	if (!attr->is_global)
		return -EINVAL;
	memcpy(eth_mac, attr->grh.dgid.raw + 10, 6);
	if (vid)
		*vid = NO_VLAN;
	return 0;
}
