/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Files that a user names, or other files do: regular ones are read, at nothing else the tool waits. */
#ifndef XRC_COMPAT_TOOLS_REGULAR_H
#define XRC_COMPAT_TOOLS_REGULAR_H

#include <stdbool.h>
#include <stddef.h>

/* open() for reading of what must be a regular file; never waits, as on a FIFO. The descriptor, or -errno. */
int regular_open(const char *path);

/* Whether the file contains these bytes. False when it cannot be read. */
bool regular_has(const char *path, const char *bytes, size_t size);

#endif
