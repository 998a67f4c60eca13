/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The connection manager's file: how it waits for events. */
#include "client.h"

#include <errno.h>
#include <sys/socket.h>

/*
 * recv() and not poll(): a signal with SA_RESTART does not interrupt it, as it does not interrupt
 * the kernel's write().
 */
int cm_wait(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, MSG_PEEK);

	if (got < 0)
		return -errno;
	/* The daemon has gone, and with it the device. */
	return got ? 0 : -EIO;
}
