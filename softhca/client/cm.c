// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* The connection manager's file: on which host its program is, and how it waits for events. */
#include "../proto.h"
#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int cm_host(uint32_t *host)
{
	const char *name = getenv("SOFTHCA_HOST");
	unsigned long index;
	char *end;

	*host = SOFTHCA_EVERY_HOST;
	if (!name || !name[0])
		return 0;
	if (!strncmp(name, "mlx4_", 5) && name[5] >= '0' && name[5] <= '9') {
		index = strtoul(name + 5, &end, 10);
		if (!*end && index < 256) {
			*host = (uint32_t)index;
			return 0;
		}
	}
	fprintf(stderr, "softhca: SOFTHCA_HOST is the name of an adapter, as mlx4_0, not '%s'\n", name);
	return -EINVAL;
}

/* recv() and not poll(): signals with SA_RESTART do not end it, nor the write() of which it is a part. */
int cm_wait(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, MSG_PEEK);

	if (got < 0)
		return -errno;
	/* The daemon has gone, and with it the device. */
	return got ? 0 : -EIO;
}
