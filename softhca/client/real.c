/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds what this library interposes, in the next library that has it. */
#include "client.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

static struct real_calls calls;
static atomic_bool found;

/*
 * Before 2.33 glibc defined stat() and its like in its headers only, by these functions; their first argument is the version of
 * struct stat.
 */
#if defined(__x86_64__)
#define STRUCT_STAT_VERSION 1
#elif defined(__i386__)
#define STRUCT_STAT_VERSION 3
#else
#define STRUCT_STAT_VERSION 0
#endif

#define STAT_BY_VERSION(NAME, ARGUMENT, STRUCT) \
	static int (*versioned_##NAME)(int version, ARGUMENT, struct STRUCT *st); \
	static int NAME##_by_version(ARGUMENT, struct STRUCT *st) \
	{ \
		return versioned_##NAME(STRUCT_STAT_VERSION, of, st); \
	}
STAT_BY_VERSION(stat, const char *of, stat)
STAT_BY_VERSION(lstat, const char *of, stat)
STAT_BY_VERSION(fstat, int of, stat)
STAT_BY_VERSION(stat64, const char *of, stat64)
STAT_BY_VERSION(lstat64, const char *of, stat64)
STAT_BY_VERSION(fstat64, int of, stat64)

#define FIND_STAT(NAME, VERSIONED) \
	do { \
		*(void **)&versioned_##NAME = dlsym(RTLD_NEXT, VERSIONED); \
		*(void **)&calls.NAME = dlsym(RTLD_NEXT, #NAME); \
		if (!calls.NAME) \
			calls.NAME = NAME##_by_version; \
	} while (0)

static void find_stats(void)
{
	FIND_STAT(stat, "__xstat");
	FIND_STAT(lstat, "__lxstat");
	FIND_STAT(fstat, "__fxstat");
	FIND_STAT(stat64, "__xstat64");
	FIND_STAT(lstat64, "__lxstat64");
	FIND_STAT(fstat64, "__fxstat64");
}

/* Two threads may do this at once: both store the same values. */
static void find_all(void)
{
	find_stats();
	*(void **)&calls.open = dlsym(RTLD_NEXT, "open");
	*(void **)&calls.open64 = dlsym(RTLD_NEXT, "open64");
	*(void **)&calls.close = dlsym(RTLD_NEXT, "close");
	*(void **)&calls.write = dlsym(RTLD_NEXT, "write");
	*(void **)&calls.mmap64 = dlsym(RTLD_NEXT, "mmap64");
	*(void **)&calls.munmap = dlsym(RTLD_NEXT, "munmap");
	*(void **)&calls.flock = dlsym(RTLD_NEXT, "flock");
	*(void **)&calls.socket = dlsym(RTLD_NEXT, "socket");
	*(void **)&calls.bind = dlsym(RTLD_NEXT, "bind");
	*(void **)&calls.getsockname = dlsym(RTLD_NEXT, "getsockname");
	*(void **)&calls.setsockopt = dlsym(RTLD_NEXT, "setsockopt");
	*(void **)&calls.sendto = dlsym(RTLD_NEXT, "sendto");
	*(void **)&calls.recvmsg = dlsym(RTLD_NEXT, "recvmsg");
	*(void **)&calls.access = dlsym(RTLD_NEXT, "access");
	*(void **)&calls.fopen = dlsym(RTLD_NEXT, "fopen");
	*(void **)&calls.fopen64 = dlsym(RTLD_NEXT, "fopen64");
	*(void **)&calls.faccessat = dlsym(RTLD_NEXT, "faccessat");
	*(void **)&calls.scandir = dlsym(RTLD_NEXT, "scandir");
	*(void **)&calls.scandir64 = dlsym(RTLD_NEXT, "scandir64");
	*(void **)&calls.chdir = dlsym(RTLD_NEXT, "chdir");
	*(void **)&calls.opendir = dlsym(RTLD_NEXT, "opendir");
	*(void **)&calls.readdir = dlsym(RTLD_NEXT, "readdir");
	*(void **)&calls.readdir64 = dlsym(RTLD_NEXT, "readdir64");
	*(void **)&calls.closedir = dlsym(RTLD_NEXT, "closedir");
}

const struct real_calls *real(void)
{
	int saved = errno;

	if (!atomic_load_explicit(&found, memory_order_acquire)) {
		find_all();
		atomic_store_explicit(&found, true, memory_order_release);
	}
	errno = saved;
	return &calls;
}
