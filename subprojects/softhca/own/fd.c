/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Descriptors of ours, among those of a program that may close any number. */
#include "own.h"
#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

/* A high number: some programs count on low ones, or close all descriptors up to a small number. */
#define HIGH_FD 700

int fd_move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	real()->close(fd);
	return high;
}

#ifdef SYS_fstat64
#define FSTAT SYS_fstat64
#else /* CPUs of 64 bits */
#define FSTAT SYS_fstat
#endif

/*
 * libfakeroot's fstat() calls __fxstat(), which is our hook and calls this function. So this one
 * calls the kernel. Containers of older Docker refuse statx(2).
 */
struct file_id fd_file(int fd)
{
	struct file_id file = { .inode = 0 };
	int saved = errno;
	struct stat64 st;

	if (!syscall(FSTAT, fd, &st))
		file = (struct file_id){ major(st.st_dev), minor(st.st_dev), st.st_ino };
	errno = saved;
	return file;
}

bool fd_is_still(int fd, struct file_id file)
{
	const struct file_id now = fd_file(fd);

	return now.inode && now.inode == file.inode && now.major == file.major &&
	       now.minor == file.minor;
}
