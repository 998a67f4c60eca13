/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The next definition of each function that this library interposes. */
#ifndef SOFTHCA_REAL_H
#define SOFTHCA_REAL_H

#include <dirent.h>
#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Name, result, parameters. A hook calls the next function of its own name. libfakeroot's lstat()
 * calls __lxstat(), which is our hook: if that called lstat(), the two would call each other.
 */
#define REAL_CALLS(X) \
	X(open, int, const char *path, int flags, ...) \
	X(open64, int, const char *path, int flags, ...) \
	X(__open_2, int, const char *path, int flags) \
	X(__open64_2, int, const char *path, int flags) \
	X(openat, int, int directory, const char *path, int flags, ...) \
	X(openat64, int, int directory, const char *path, int flags, ...) \
	X(__openat_2, int, int directory, const char *path, int flags) \
	X(__openat64_2, int, int directory, const char *path, int flags) \
	X(close, int, int fd) \
	X(write, ssize_t, int fd, const void *data, size_t length) \
	X(mmap, void *, void *address, size_t length, int prot, int flags, int fd, off_t offset) \
	X(mmap64, void *, void *address, size_t length, int prot, int flags, int fd, \
	  off64_t offset) \
	X(munmap, int, void *address, size_t length) \
	X(posix_memalign, int, void **memory, size_t alignment, size_t size) \
	X(flock, int, int fd, int operation) \
	X(socket, int, int domain, int type, int protocol) \
	X(bind, int, int fd, const struct sockaddr *name, socklen_t size) \
	X(getsockname, int, int fd, struct sockaddr *name, socklen_t *size) \
	X(setsockopt, int, int fd, int level, int option, const void *value, socklen_t size) \
	X(sendto, ssize_t, int fd, const void *data, size_t length, int flags, \
	  const struct sockaddr *name, socklen_t size) \
	X(recvmsg, ssize_t, int fd, struct msghdr *msg, int flags) \
	X(gethostbyname, struct hostent *, const char *name) \
	X(gethostbyname2, struct hostent *, const char *name, int family) \
	X(gethostbyname_r, int, const char *name, struct hostent *host, char *data, size_t size, \
	  struct hostent **result, int *error) \
	X(getaddrinfo, int, const char *name, const char *service, const struct addrinfo *hints, \
	  struct addrinfo **result) \
	X(access, int, const char *path, int mode) \
	X(fopen, FILE *, const char *path, const char *mode) \
	X(fopen64, FILE *, const char *path, const char *mode) \
	X(faccessat, int, int fd, const char *path, int mode, int flags) \
	X(eaccess, int, const char *path, int mode) \
	X(euidaccess, int, const char *path, int mode) \
	X(readlink, ssize_t, const char *path, char *target, size_t size) \
	X(readlinkat, ssize_t, int fd, const char *path, char *target, size_t size) \
	X(__readlink_chk, ssize_t, const char *path, char *target, size_t size, size_t room) \
	X(__readlinkat_chk, ssize_t, int fd, const char *path, char *target, size_t size, \
	  size_t room) \
	X(realpath, char *, const char *path, char *resolved) \
	X(__realpath_chk, char *, const char *path, char *resolved, size_t size) \
	X(getcwd, char *, char *path, size_t size) \
	X(__getcwd_chk, char *, char *path, size_t size, size_t room) \
	X(getxattr, ssize_t, const char *path, const char *name, void *value, size_t size) \
	X(lgetxattr, ssize_t, const char *path, const char *name, void *value, size_t size) \
	X(listxattr, ssize_t, const char *path, char *list, size_t size) \
	X(llistxattr, ssize_t, const char *path, char *list, size_t size) \
	X(chdir, int, const char *path) \
	X(scandir, int, const char *path, struct dirent ***names, \
	  int (*filter)(const struct dirent *), \
	  int (*compare)(const struct dirent **, const struct dirent **)) \
	X(scandir64, int, const char *path, struct dirent64 ***names, \
	  int (*filter)(const struct dirent64 *), \
	  int (*compare)(const struct dirent64 **, const struct dirent64 **)) \
	X(opendir, DIR *, const char *path) \
	X(readdir, struct dirent *, DIR *dir) \
	X(readdir64, struct dirent64 *, DIR *dir) \
	X(rewinddir, void, DIR *dir) \
	X(closedir, int, DIR *dir)

struct statx; /* glibc before 2.28 has none */

/* glibc before 2.33 exports no stat(), only __xstat(); later ones keep that for old programs. */
#define REAL_STATS(X) \
	X(stat, int, const char *path, struct stat *st) \
	X(lstat, int, const char *path, struct stat *st) \
	X(stat64, int, const char *path, struct stat64 *st) \
	X(lstat64, int, const char *path, struct stat64 *st) \
	X(fstat, int, int fd, struct stat *st) \
	X(fstat64, int, int fd, struct stat64 *st) \
	X(__xstat, int, int version, const char *path, struct stat *st) \
	X(__lxstat, int, int version, const char *path, struct stat *st) \
	X(__xstat64, int, int version, const char *path, struct stat64 *st) \
	X(__lxstat64, int, int version, const char *path, struct stat64 *st) \
	X(__fxstat, int, int version, int fd, struct stat *st) \
	X(__fxstat64, int, int version, int fd, struct stat64 *st) \
	X(fstatat, int, int fd, const char *path, struct stat *st, int flags) \
	X(fstatat64, int, int fd, const char *path, struct stat64 *st, int flags) \
	X(__fxstatat, int, int version, int fd, const char *path, struct stat *st, int flags) \
	X(__fxstatat64, int, int version, int fd, const char *path, struct stat64 *st, int flags) \
	X(statx, int, int fd, const char *path, int flags, unsigned int mask, struct statx *st)

#define REAL_CALL(name, result, ...) result (*name)(__VA_ARGS__);
struct real_calls {
	REAL_CALLS(REAL_CALL)
};
struct real_stats {
	REAL_STATS(REAL_CALL)
};
#undef REAL_CALL

/* Looked up at the first use: hooks can run before any constructor of this library. */
const struct real_calls *real(void);
/*
 * Looked up apart from the others, because a look-up that fails allocates memory. The program's
 * malloc() may hold a lock of its own while it calls mmap(), which calls real().
 */
const struct real_stats *real_stats(void);

/* A function of libibverbs, which the program may have loaded by dlopen(); NULL if it has none. */
void *real_verb(const char *name);

#endif
