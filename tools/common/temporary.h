/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Temporary files, sockets and directories: in TMPDIR, or else in /tmp. */
#ifndef XRC_COMPAT_TOOLS_TEMPORARY_H
#define XRC_COMPAT_TOOLS_TEMPORARY_H

#include <stddef.h>

/*
 * Has "NAME-XXXXXX" made by @make, as mkstemp(3) makes a file: in TMPDIR if that is an absolute
 * path, leaves room in the @size bytes of @path, and @make succeeds there. What @make returned;
 * with -1, @path is where it failed last.
 */
int temporary_make(const char *name, char *path, size_t size, int (*make)(char *path));

#endif
