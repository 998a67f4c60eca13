/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Stand-ins for functions that glibc 2.17 does not have. meson.build defines HAVE_NAME for each of
 * them that the installed glibc has, or for none if the result must run with an older glibc. If a
 * function is without HAVE_NAME, meson.build includes this file before every source.
 *
 * The names of the functions become macros here. So this file first includes the headers that
 * declare the functions.
 */
#ifndef BASE_LIBC_H
#define BASE_LIBC_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef HAVE_MEMFD_CREATE /* glibc 2.27 */
static inline int libc_memfd_create(const char *name, unsigned int flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}
#define memfd_create libc_memfd_create
#endif

/* glibc 2.28. Where file offsets have 64 bits, its headers rename fcntl() to fcntl64(). */
#ifndef HAVE_FCNTL64
#ifdef SYS_fcntl64
#define fcntl(...) (__extension__({ (int)syscall(SYS_fcntl64, __VA_ARGS__); }))
#else
#define fcntl(...) (__extension__({ (int)syscall(SYS_fcntl, __VA_ARGS__); }))
#endif
#endif

#ifndef HAVE_GETTID /* glibc 2.30 */
static inline pid_t libc_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}
#define gettid libc_gettid
#endif

#ifndef HAVE_STRERRORNAME_NP /* glibc 2.32 */
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

static inline const char *libc_strerrorname_np(int err)
{
#define ERROR_ROW(NAME) { NAME, #NAME },
	static const struct {
		int err;
		const char *name;
	} names[] = { { 0, "0" }, ERRORS(ERROR_ROW) NEWER_ERRORS(ERROR_ROW) };
#undef ERROR_ROW

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].err == err)
			return names[i].name;
	}
	return NULL;
}
#undef ERRORS
#undef NEWER_ERRORS
#define strerrorname_np libc_strerrorname_np
#endif

#endif
