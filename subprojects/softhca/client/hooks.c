/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The functions that the preload interposes. Calls that are not ours go to the next definition. */
#include "client.h"

#include <lookup/lookup.h>
#include <own/real.h>
#include <rings/rings.h>

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

/* The path as it is in the emulated machine; valid in the enclosing block. */
#define REDIRECTED(path) place_redirect(path, (char[512]){ 0 }, 512)

/* AddressSanitizer refuses to start with another library before its own, unless told not to. */
HOOK const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* Whether it is the path of a device, which is then opened: *fd = its descriptor, or -1. */
static bool open_device(const char *path, int flags, int *fd)
{
	int index = place_uverbs(path);

	if (index >= 0)
		*fd = dev_open((unsigned int)index, flags);
	else if (place_is_cm(path))
		*fd = dev_open_cm(flags);
	else
		return false;
	if (*fd < 0) {
		errno = -*fd;
		*fd = -1;
	}
	return true;
}

static mode_t mode_argument(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

/*
 * open(), open64() of programs built with 64-bit file offsets, and __open_2(), which programs built
 * with _FORTIFY_SOURCE call for flags that are not constant. grep(1) calls openat(); our paths are
 * absolute, so @directory does not matter.
 */
#define OPEN_HOOKS(BITS) \
	HOOK int open##BITS(const char *path, int flags, ...) \
	{ \
		va_list args; \
		mode_t mode; \
		int fd; \
\
		va_start(args, flags); \
		mode = mode_argument(flags, args); \
		va_end(args); \
		return open_device(path, flags, &fd) \
			       ? fd \
			       : real()->open##BITS(REDIRECTED(path), flags, mode); \
	} \
	HOOK int __open##BITS##_2(const char *path, int flags); \
	HOOK int __open##BITS##_2(const char *path, int flags) \
	{ \
		int fd; \
\
		return open_device(path, flags, &fd) \
			       ? fd \
			       : real()->__open##BITS##_2(REDIRECTED(path), flags); \
	} \
	HOOK int openat##BITS(int directory, const char *path, int flags, ...) \
	{ \
		va_list args; \
		mode_t mode; \
\
		va_start(args, flags); \
		mode = mode_argument(flags, args); \
		va_end(args); \
		return real()->openat##BITS(directory, REDIRECTED(path), flags, mode); \
	}

OPEN_HOOKS()
OPEN_HOOKS(64)

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

#define MMAP_HOOK(NAME, OFFSET) \
	HOOK void *NAME(void *address, size_t length, int prot, int flags, int fd, OFFSET offset) \
	{ \
		void *memory; \
\
		return map_ours(&memory, address, length, prot, flags, fd, offset, \
				__builtin_return_address(0)) \
			       ? memory \
			       : real()->NAME(address, length, prot, flags, fd, offset); \
	}

MMAP_HOOK(mmap, off_t)
MMAP_HOOK(mmap64, off64_t)

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

/* A uverbs file looks like /dev/null to stat(), so that its number agrees with sysfs. */
#define STAT_PATH(path) place_to_look(path, (char[512]){ 0 }, 512)

/*
 * stat(), stat64() of programs built with 64-bit file offsets, and __xstat() of programs linked
 * with glibc before 2.33.
 *
 * The descriptor of a device is a memfd or a socket, because no process can make a character device
 * that can be mapped or waited for. fstat() shows it as one.
 */
#define STAT_HOOKS(BITS) \
	HOOK int stat##BITS(const char *path, struct stat##BITS *st) \
	{ \
		return real_stats()->stat##BITS(STAT_PATH(path), st); \
	} \
	HOOK int lstat##BITS(const char *path, struct stat##BITS *st) \
	{ \
		return real_stats()->lstat##BITS(STAT_PATH(path), st); \
	} \
	HOOK int fstat##BITS(int fd, struct stat##BITS *st) \
	{ \
		return dev_is(fd) ? real_stats()->stat##BITS("/dev/null", st) \
				  : real_stats()->fstat##BITS(fd, st); \
	} \
	HOOK int __xstat##BITS(int version, const char *path, struct stat##BITS *st); \
	HOOK int __xstat##BITS(int version, const char *path, struct stat##BITS *st) \
	{ \
		return real_stats()->__xstat##BITS(version, STAT_PATH(path), st); \
	} \
	HOOK int __lxstat##BITS(int version, const char *path, struct stat##BITS *st); \
	HOOK int __lxstat##BITS(int version, const char *path, struct stat##BITS *st) \
	{ \
		return real_stats()->__lxstat##BITS(version, STAT_PATH(path), st); \
	} \
	HOOK int __fxstat##BITS(int version, int fd, struct stat##BITS *st); \
	HOOK int __fxstat##BITS(int version, int fd, struct stat##BITS *st) \
	{ \
		return dev_is(fd) ? real_stats()->__xstat##BITS(version, "/dev/null", st) \
				  : real_stats()->__fxstat##BITS(version, fd, st); \
	}

STAT_HOOKS()
STAT_HOOKS(64)

HOOK int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st);

/* ls(1) calls it for each name that it is given. Our paths are absolute, so @fd does not matter. */
HOOK int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st)
{
	return real_stats()->statx(fd, STAT_PATH(path), flags, mask, st);
}

HOOK int access(const char *path, int mode)
{
	return real()->access(STAT_PATH(path), mode);
}

/* `test -r` of the shell calls it. Our paths are absolute, so @fd does not matter. */
HOOK int faccessat(int fd, const char *path, int mode, int flags)
{
	return real()->faccessat(fd, STAT_PATH(path), mode, flags);
}

HOOK FILE *fopen(const char *path, const char *mode)
{
	return real()->fopen(REDIRECTED(path), mode);
}

HOOK FILE *fopen64(const char *path, const char *mode)
{
	return real()->fopen64(REDIRECTED(path), mode);
}

/* Scripts find the adapter of a network interface by readlink(1). */
HOOK ssize_t readlink(const char *path, char *target, size_t size)
{
	return real()->readlink(REDIRECTED(path), target, size);
}

/* ibstatus, a shell script, changes into these directories. */
HOOK int chdir(const char *path)
{
	return real()->chdir(REDIRECTED(path));
}

/* libibumad calls it. Inside, the C library calls its own opendir(), which no hook sees. */
HOOK int scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		 int (*compare)(const struct dirent **, const struct dirent **))
{
	return real()->scandir(REDIRECTED(path), names, filter, compare);
}

HOOK int scandir64(const char *path, struct dirent64 ***names,
		   int (*filter)(const struct dirent64 *),
		   int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return real()->scandir64(REDIRECTED(path), names, filter, compare);
}

HOOK DIR *opendir(const char *path)
{
	const char *redirected = REDIRECTED(path);
	DIR *dir = real()->opendir(redirected);

	if (dir && place_is_device_list(redirected))
		order_opened(dir);
	return dir;
}

HOOK struct dirent *readdir(DIR *dir)
{
	bool ours;
	struct dirent *entry = order_next(dir, &ours);

	return ours ? entry : real()->readdir(dir);
}

HOOK struct dirent64 *readdir64(DIR *dir)
{
	bool ours;
	struct dirent64 *entry = order_next64(dir, &ours);

	return ours ? entry : real()->readdir64(dir);
}

HOOK int closedir(DIR *dir)
{
	order_closed(dir);
	return real()->closedir(dir);
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
	if (!is_called_from(__builtin_return_address(0), "libnl-"))
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
