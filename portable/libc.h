/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Stand-ins for functions that glibc 2.17 does not have. meson.build defines HAVE_NAME for those
 * that glibc has and the build allows. If one is missing, meson.build includes this file before
 * every source.
 *
 * The names of the functions become macros here. So this file first includes the headers that
 * declare the functions.
 */
#ifndef PORTABLE_LIBC_H
#define PORTABLE_LIBC_H

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef HAVE_MEMFD_CREATE /* glibc 2.27 */
static inline int portable_memfd_create(const char *name, unsigned int flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}
#define memfd_create portable_memfd_create
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
static inline pid_t portable_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}
#define gettid portable_gettid
#endif

#ifndef HAVE_STRERRORNAME_NP /* glibc 2.32 */
const char *portable_strerrorname_np(int err);
#define strerrorname_np portable_strerrorname_np
#endif

#ifndef HAVE_CLOSE_RANGE /* glibc 2.34 */
/* Refuses all flags with EINVAL. */
int portable_close_range(unsigned int first, unsigned int last, int flags);
#define close_range portable_close_range
#endif

/* Always there: glibc's epoll_pwait2() fails with ENOSYS before Linux 5.11. */
int portable_epoll_pwait2(int epoll_fd, struct epoll_event *events, int count,
			  const struct timespec *timeout, const sigset_t *mask);
#ifndef HAVE_EPOLL_PWAIT2 /* glibc 2.35 */
#define epoll_pwait2 portable_epoll_pwait2
#endif

#endif
