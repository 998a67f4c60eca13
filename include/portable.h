/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Stand-ins for functions that glibc 2.17 does not have, and for constants that the kernel headers
 * of Linux 5.8 do not have. (With older headers softhca is not built.) If one is missing, or must
 * not be used, meson.build includes this file before every source. HAVE_* tells which exist. It
 * includes the headers that declare the functions first, because it defines their names as macros.
 */
#ifndef XRC_COMPAT_PORTABLE_H
#define XRC_COMPAT_PORTABLE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* The bits of ibv_device_attr.device_cap_flags, as the kernel's headers name them since 6.0. */
#define PORTABLE_DEVICE_BITS(X) \
	X(BAD_PKEY_CNTR, 1) X(BAD_QKEY_CNTR, 2) X(AUTO_PATH_MIG, 4) X(CURR_QP_STATE_MOD, 7) \
	X(SHUTDOWN_PORT, 8) X(PORT_ACTIVE_EVENT, 10) X(SYS_IMAGE_GUID, 11) X(RC_RNR_NAK_GEN, 12) \
	X(XRC, 20)
#ifndef HAVE_IB_UVERBS_DEVICE_XRC
#define PORTABLE_ROW(NAME, BIT) IB_UVERBS_DEVICE_##NAME = 1 << BIT,
enum portable_device_bits { PORTABLE_DEVICE_BITS(PORTABLE_ROW) };
#undef PORTABLE_ROW
#endif

/* Of <rdma/rdma_netlink.h>, all since Linux 5.13. */
#define PORTABLE_NETLINK(X) \
	X(CMD_RES_CTX_GET, 22) X(CMD_RES_SRQ_GET, 23) X(ATTR_RES_CTX, 86) \
	X(ATTR_RES_CTX_ENTRY, 87) X(ATTR_RES_SRQ, 88) X(ATTR_RES_SRQ_ENTRY, 89) \
	X(ATTR_RES_SRQN, 90) X(SYS_ATTR_COPY_ON_FORK, 93)
#ifndef HAVE_RDMA_NLDEV_CMD_RES_SRQ_GET
#define PORTABLE_ROW(NAME, NUMBER) RDMA_NLDEV_##NAME = NUMBER,
enum portable_netlink { PORTABLE_NETLINK(PORTABLE_ROW) };
#undef PORTABLE_ROW
#endif

#define PORTABLE_CQ_TIMESTAMP (1 << 0)
#ifndef HAVE_IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION /* Linux 5.9 */
enum { IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION = PORTABLE_CQ_TIMESTAMP };
#endif

#ifndef HAVE_MEMFD_CREATE /* glibc 2.27 */
static inline int portable_memfd_create(const char *name, unsigned int flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}
#define memfd_create portable_memfd_create
#endif

#ifndef HAVE_FCNTL64 /* glibc 2.28; what fcntl() becomes where file offsets have 64 bits */
#ifdef SYS_fcntl64
#define fcntl(...) (__extension__({ (int)syscall(SYS_fcntl64, __VA_ARGS__); }))
#else
#define fcntl(...) (__extension__({ (int)syscall(SYS_fcntl, __VA_ARGS__); }))
#endif
#endif

#ifndef HAVE_GETTID /* glibc 2.30 */
static inline pid_t portable_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}
#define gettid portable_gettid
#endif

#ifndef HAVE_CLOSE_RANGE /* glibc 2.34 */
/* Closes those that /proc lists as open: the range may end at the greatest number that exists. */
static inline int portable_close_range(unsigned int first, unsigned int last, int flags)
{
	DIR *list = flags ? NULL : opendir("/proc/self/fd");
	struct dirent *entry;

	if (!list) {
		errno = flags ? EINVAL : errno;
		return -1;
	}
	while ((entry = readdir(list))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && fd != dirfd(list) && (unsigned int)fd >= first &&
		    (unsigned int)fd <= last)
			close(fd);
	}
	closedir(list);
	return 0;
}
#define close_range portable_close_range
#endif

#ifndef HAVE_EPOLL_PWAIT2 /* glibc 2.35 */
/* An epoll descriptor can be polled itself, and ppoll() counts in nanoseconds. */
static inline int portable_epoll_pwait2(int epoll_fd, struct epoll_event *events, int count,
					const struct timespec *timeout, const sigset_t *mask)
{
	struct pollfd pollfd = { .fd = epoll_fd, .events = POLLIN };
	int ready = ppoll(&pollfd, 1, timeout, mask);

	return ready > 0 ? epoll_wait(epoll_fd, events, count, 0) : ready;
}
#define epoll_pwait2 portable_epoll_pwait2
#endif

#ifndef HAVE_STRERRORNAME_NP /* glibc 2.32 */
#ifdef EFTYPE /* of younger kernels */
#define PORTABLE_YOUNG_ERRORS(X) X(EFTYPE)
#else
#define PORTABLE_YOUNG_ERRORS(X)
#endif
#define PORTABLE_ERRORS(X) \
	X(EPERM) X(ENOENT) X(ESRCH) X(EINTR) X(EIO) X(ENXIO) X(E2BIG) X(ENOEXEC) X(EBADF) \
	X(ECHILD) X(EAGAIN) X(ENOMEM) X(EACCES) X(EFAULT) X(ENOTBLK) X(EBUSY) X(EEXIST) X(EXDEV) \
	X(ENODEV) X(ENOTDIR) X(EISDIR) X(EINVAL) X(ENFILE) X(EMFILE) X(ENOTTY) X(ETXTBSY) X(EFBIG) \
	X(ENOSPC) X(ESPIPE) X(EROFS) X(EMLINK) X(EPIPE) X(EDOM) X(ERANGE) X(EDEADLK) \
	X(ENAMETOOLONG) X(ENOLCK) X(ENOSYS) X(ENOTEMPTY) X(ELOOP) X(ENOMSG) X(EIDRM) X(ECHRNG) \
	X(EL2NSYNC) X(EL3HLT) X(EL3RST) X(ELNRNG) X(EUNATCH) X(ENOCSI) X(EL2HLT) X(EBADE) X(EBADR) \
	X(EXFULL) X(ENOANO) X(EBADRQC) X(EBADSLT) X(EBFONT) X(ENOSTR) X(ENODATA) X(ETIME) X(ENOSR) \
	X(ENONET) X(ENOPKG) X(EREMOTE) X(ENOLINK) X(EADV) X(ESRMNT) X(ECOMM) X(EPROTO) \
	X(EMULTIHOP) X(EDOTDOT) X(EBADMSG) X(EOVERFLOW) X(ENOTUNIQ) X(EBADFD) X(EREMCHG) \
	X(ELIBACC) X(ELIBBAD) X(ELIBSCN) X(ELIBMAX) X(ELIBEXEC) X(EILSEQ) X(ERESTART) X(ESTRPIPE) \
	X(EUSERS) X(ENOTSOCK) X(EDESTADDRREQ) X(EMSGSIZE) X(EPROTOTYPE) X(ENOPROTOOPT) \
	X(EPROTONOSUPPORT) X(ESOCKTNOSUPPORT) X(EOPNOTSUPP) X(EPFNOSUPPORT) X(EAFNOSUPPORT) \
	X(EADDRINUSE) X(EADDRNOTAVAIL) X(ENETDOWN) X(ENETUNREACH) X(ENETRESET) X(ECONNABORTED) \
	X(ECONNRESET) X(ENOBUFS) X(EISCONN) X(ENOTCONN) X(ESHUTDOWN) X(ETOOMANYREFS) X(ETIMEDOUT) \
	X(ECONNREFUSED) X(EHOSTDOWN) X(EHOSTUNREACH) X(EALREADY) X(EINPROGRESS) X(ESTALE) \
	X(EUCLEAN) X(ENOTNAM) X(ENAVAIL) X(EISNAM) X(EREMOTEIO) X(EDQUOT) X(ENOMEDIUM) \
	X(EMEDIUMTYPE) X(ECANCELED) X(ENOKEY) X(EKEYEXPIRED) X(EKEYREVOKED) X(EKEYREJECTED) \
	X(EOWNERDEAD) X(ENOTRECOVERABLE) X(ERFKILL) X(EHWPOISON) PORTABLE_YOUNG_ERRORS(X)

static inline const char *portable_strerrorname_np(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ 0, "0" },
#define PORTABLE_ROW(NAME) { NAME, #NAME },
		PORTABLE_ERRORS(PORTABLE_ROW)
#undef PORTABLE_ROW
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].err == err)
			return names[i].name;
	}
	return NULL;
}
#define strerrorname_np portable_strerrorname_np
#endif

#endif
