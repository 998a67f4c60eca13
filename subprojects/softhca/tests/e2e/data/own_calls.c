/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory functions in the executable, as bare system calls: a preloaded library does not see them.
 * MVAPICH2 1.7 with its registration cache has such a munmap(). OWN_ALL adds more of them, as in
 * HP-MPI and in Open MPI 1.x with ptmalloc2.
 */
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int munmap(void *address, size_t length)
{
	return (int)syscall(SYS_munmap, address, length);
}

#ifdef OWN_ALL

#ifdef SYS_mmap2
#define SYSTEM_MMAP SYS_mmap2
#define UNIT	    4096
#else
#define SYSTEM_MMAP SYS_mmap
#define UNIT	    1
#endif

EXPORT void *mmap64(void *address, size_t length, int prot, int flags, int fd, off64_t offset)
{
	return (void *)syscall(SYSTEM_MMAP, address, length, prot, flags, fd,
			       (long)(offset / UNIT));
}

EXPORT void *mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	return mmap64(address, length, prot, flags, fd, offset);
}

EXPORT void *mremap(void *from, size_t old_length, size_t length, int flags, ...)
{
	va_list args;
	void *to;

	va_start(args, flags);
	to = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	return (void *)syscall(SYS_mremap, from, old_length, length, flags, to);
}

EXPORT int madvise(void *address, size_t length, int advice)
{
	return (int)syscall(SYS_madvise, address, length, advice);
}

#endif
