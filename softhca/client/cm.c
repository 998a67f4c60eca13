/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The connection manager's file: on which host its program is, and how it waits for events. */
#include "client.h"

#include <softhca/proto.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The name of the first adapter, or "" when there is none. */
static void first_adapter(char *name, size_t size)
{
	char path[PATH_MAX];
	FILE *file = NULL;

	name[0] = '\0';
	if (place_dir() && (size_t)snprintf(path, sizeof(path), "%s/" SOFTHCA_SYSFS "/class/infiniband_verbs/uverbs0/ibdev",
					    place_dir()) < sizeof(path))
		file = real()->fopen(path, "re");
	if (!file)
		return;
	if (fgets(name, (int)size, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

/* The number at the end of @name, if what stands before it is the same as in @first; else -1. */
static long number_of(const char *name, const char *first)
{
	const char *line = strrchr(first, '_');
	size_t before = line ? (size_t)(line + 1 - first) : 0;
	char *end;
	long index;

	if (!before || strncmp(name, first, before) || name[before] < '0' || name[before] > '9')
		return -1;
	index = strtol(name + before, &end, 10);
	return *end || index > 255 ? -1 : index;
}

int cm_host(uint32_t *host)
{
	const char *name = getenv("SOFTHCA_HOST");
	char first[64];
	long index;

	*host = SOFTHCA_EVERY_HOST;
	if (!name || !name[0])
		return 0;
	first_adapter(first, sizeof(first));
	index = number_of(name, first);
	if (index >= 0) {
		*host = (uint32_t)index;
		return 0;
	}
	fprintf(stderr, "softhca: SOFTHCA_HOST is the name of an adapter, as %s, not '%s'\n", first, name);
	return -EINVAL;
}

/* recv() and not poll(): a signal with SA_RESTART does not interrupt it, as it does not interrupt the kernel's write(). */
int cm_wait(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, MSG_PEEK);

	if (got < 0)
		return -errno;
	/* The daemon has gone, and with it the device. */
	return got ? 0 : -EIO;
}
