/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Memory that the daemon shares with a program. */
#ifndef SOFTHCA_MEMFD_H
#define SOFTHCA_MEMFD_H

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A memfd of @size zero bytes, or -errno. Sealed: a program that cut it short would kill the daemon
 * with SIGBUS.
 */
static inline int memfd_sealed(const char *name, off_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

#endif
