/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Record locks of the table's file. */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lock.h"
#include "mem.h"

int regtab_lock(int fd, int type, int byte)
{
	struct flock lock = { .l_type = (short)type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };

	int error = fcntl(fd, F_SETLK, &lock) ? -errno : 0;

	regtab_fault_point();	/* also when refused: what comes next then is decided by others */
	return error == -EACCES ? -EAGAIN : error;
}

int regtab_lock_holder(int fd, int byte)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };

	if (fcntl(fd, F_GETLK, &lock))
		return -errno;
	return lock.l_type;
}
