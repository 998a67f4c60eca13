/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Descriptors of ours, among those of a program that may close any number. */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

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

/*
 * libfakeroot's fstat() calls __fxstat(), which is our hook and calls this function. So this one
 * calls statx(), by its number, because glibc has it since 2.28 only.
 */
struct file_id fd_file(int fd)
{
	struct file_id file = { .inode = 0 };
	int saved = errno;
	struct statx st;

	if (!syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_INO, &st))
		file = (struct file_id){ st.stx_dev_major, st.stx_dev_minor, st.stx_ino };
	errno = saved;
	return file;
}

bool fd_is_still(int fd, struct file_id file)
{
	const struct file_id now = fd_file(fd);

	return now.inode && now.inode == file.inode && now.major == file.major &&
	       now.minor == file.minor;
}
