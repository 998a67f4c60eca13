/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads regular files only. Opening a FIFO or a device could block for ever. */
#ifndef XRC_COMPAT_TOOLS_REGULAR_H
#define XRC_COMPAT_TOOLS_REGULAR_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a regular file for reading, and does not block on a FIFO. The descriptor, or -errno. */
int regular_open(const char *path);

/* Whether the file contains these bytes. False when it cannot be read. */
bool regular_has(const char *path, const char *bytes, size_t size);

#endif
