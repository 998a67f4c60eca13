/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Temporary files, sockets and directories. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

int temporary_make(const char *name, char *path, size_t size, int (*make)(char *path))
{
	const char *const parents[] = { getenv("TMPDIR"), "/tmp" };
	int made = -1;

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]) && made < 0; i++) {
		if (parents[i] && parents[i][0] == '/' &&
		    snprintf(path, size, "%s/%s-XXXXXX", parents[i], name) < (int)size)
			made = make(path);
	}
	return made;
}
