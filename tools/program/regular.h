/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Files that a user names, or other files do: regular ones are read, at nothing else the tool waits. */
#ifndef XRC_COMPAT_TOOLS_REGULAR_H
#define XRC_COMPAT_TOOLS_REGULAR_H

#include <stddef.h>

/* open() for reading of what must be a regular file; never waits, as on a FIFO. The descriptor, or -errno. */
int regular_open(const char *path);

/* All of its bytes, until munmap(). NULL when it cannot be read, or is empty. */
const void *regular_map(const char *path, size_t *size);

#endif
