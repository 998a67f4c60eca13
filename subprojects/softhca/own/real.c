/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds what this library interposes, in the next library that has it. */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

static struct real_calls calls;
static struct real_stats stats;

/*
 * glibc before 2.33 has stat() as __xstat(), whose first argument is struct stat's version. Later
 * ones have __xstat() for old programs only: it is found by its version.
 */
#if defined(__x86_64__)
#define STRUCT_STAT_VERSION 1
#define FIRST_GLIBC	    "GLIBC_2.2.5"
#define FIRST_GLIBC_64	    "GLIBC_2.2.5"
#elif defined(__i386__)
#define STRUCT_STAT_VERSION 3
#define FIRST_GLIBC	    "GLIBC_2.0"
#define FIRST_GLIBC_64	    "GLIBC_2.2"
#else
#define STRUCT_STAT_VERSION 0
#define FIRST_GLIBC	    "GLIBC_2.17"
#define FIRST_GLIBC_64	    "GLIBC_2.17"
#endif

#define STAT_BY_VERSION(NAME, VERSIONED, ARGUMENT, STRUCT) \
	static int NAME##_by_version(ARGUMENT, struct STRUCT *st) \
	{ \
		return stats.VERSIONED(STRUCT_STAT_VERSION, of, st); \
	}
STAT_BY_VERSION(stat, __xstat, const char *of, stat)
STAT_BY_VERSION(lstat, __lxstat, const char *of, stat)
STAT_BY_VERSION(fstat, __fxstat, int of, stat)
STAT_BY_VERSION(stat64, __xstat64, const char *of, stat64)
STAT_BY_VERSION(lstat64, __lxstat64, const char *of, stat64)
STAT_BY_VERSION(fstat64, __fxstat64, int of, stat64)

#define STATAT_BY_VERSION(BITS) \
	static int fstatat##BITS##_by_version(int fd, const char *path, struct stat##BITS *st, \
					      int flags) \
	{ \
		return stats.__fxstatat##BITS(STRUCT_STAT_VERSION, fd, path, st, flags); \
	}
STATAT_BY_VERSION()
STATAT_BY_VERSION(64)

#define FIND_STAT(NAME, VERSIONED, FIRST) \
	do { \
		if (!next->NAME) \
			next->NAME = NAME##_by_version; \
		if (!next->VERSIONED) \
			*(void **)&next->VERSIONED = dlvsym(RTLD_NEXT, #VERSIONED, FIRST); \
	} while (0)

#define FIND(NAME, ...) *(void **)&next->NAME = dlsym(RTLD_NEXT, #NAME);

#define FIND_VERSION(NAME, VERSION) *(void **)&next->NAME = dlvsym(RTLD_NEXT, #NAME, VERSION);

/*
 * dlsym() of glibc before 2.36 finds the first version of a function in the next library. That of
 * realpath() refuses NULL, and on i386 that of gethostbyname_r() has other arguments. Ask only for
 * versions that exist: dlvsym() allocates memory for an error message.
 */
static void find_calls(struct real_calls *next)
{
	REAL_CALLS(FIND)
#if defined(__x86_64__) || defined(__i386__)
	FIND_VERSION(realpath, "GLIBC_2.3")
#endif
#ifdef __i386__
	FIND_VERSION(gethostbyname_r, "GLIBC_2.1.2")
#endif
}

static void find_stats(struct real_stats *next)
{
	REAL_STATS(FIND)
	FIND_STAT(stat, __xstat, FIRST_GLIBC);
	FIND_STAT(lstat, __lxstat, FIRST_GLIBC);
	FIND_STAT(fstat, __fxstat, FIRST_GLIBC);
	FIND_STAT(stat64, __xstat64, FIRST_GLIBC_64);
	FIND_STAT(lstat64, __lxstat64, FIRST_GLIBC_64);
	FIND_STAT(fstat64, __fxstat64, FIRST_GLIBC_64);
	FIND_STAT(fstatat, __fxstatat, "GLIBC_2.4");
	FIND_STAT(fstatat64, __fxstatat64, "GLIBC_2.4");
}

/* Two threads may do this at once: both store the same values, and each only complete ones. */
#define FIND_ONCE(FIND_THEM, STORED) \
	do { \
		static atomic_bool found; \
		__typeof__(STORED) next; \
		int saved = errno; \
\
		if (!atomic_load_explicit(&found, memory_order_acquire)) { \
			FIND_THEM(&next); \
			STORED = next; \
			atomic_store_explicit(&found, true, memory_order_release); \
		} \
		errno = saved; \
	} while (0)

const struct real_calls *real(void)
{
	FIND_ONCE(find_calls, calls);
	return &calls;
}

const struct real_stats *real_stats(void)
{
	FIND_ONCE(find_stats, stats);
	return &stats;
}

void *real_verb(const char *name)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *verb = library ? dlsym(library, name) : NULL;

	if (library)
		dlclose(library);
	return verb;
}
