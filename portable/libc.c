/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The longer stand-ins for functions that glibc 2.17 does not have. */
#include "libc.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>

#ifndef HAVE_CLOSE_RANGE
/* Closes only what /proc lists as open, because @last may be the greatest number that exists. */
int portable_close_range(unsigned int first, unsigned int last, int flags)
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
#endif

/* An epoll descriptor can itself be polled, and ppoll() takes nanoseconds. */
int portable_epoll_pwait2(int epoll_fd, struct epoll_event *events, int count,
		      const struct timespec *timeout, const sigset_t *mask)
{
	struct pollfd pollfd = { .fd = epoll_fd, .events = POLLIN };
	int ready = ppoll(&pollfd, 1, timeout, mask);

	return ready > 0 ? epoll_wait(epoll_fd, events, count, 0) : ready;
}

#ifndef HAVE_STRERRORNAME_NP
#ifdef EFTYPE /* only headers of newer kernels have it */
#define NEWER_ERRORS(X) X(EFTYPE)
#else
#define NEWER_ERRORS(X)
#endif
#define ERRORS(X) \
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
	X(EOWNERDEAD) X(ENOTRECOVERABLE) X(ERFKILL) X(EHWPOISON)

const char *portable_strerrorname_np(int err)
{
#define ROW(NAME) { NAME, #NAME },
	static const struct {
		int err;
		const char *name;
	} names[] = { { 0, "0" }, ERRORS(ROW) NEWER_ERRORS(ROW) };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].err == err)
			return names[i].name;
	}
	return NULL;
}
#endif
