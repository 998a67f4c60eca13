/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The bytes of regular files. To open a FIFO or a device could block for ever. */
#ifndef TOOLS_REGULAR_H
#define TOOLS_REGULAR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens a regular file for reading, and nothing else (-EACCES). The descriptor, or -errno. */
int regular_open(const char *path);

/* Reads the first bytes of the file, up to @size - 1, and ends them with 0. How many, or -1. */
ssize_t regular_read(const char *path, char *text, size_t size);

/* The rest, with its @end, of the first line that begins with the name; or NULL. */
char *regular_line(const char *path, int end, const char *name);

/* The number behind the name that begins a line in a file of the kernel; 0: there is none. */
unsigned long long regular_number(const char *path, const char *name, int base);

/* The first string in the file, between two 0, that has this part; or NULL. */
char *regular_string(const char *path, const char *part);

/* Whether the file contains the text. False when it cannot be read. */
bool regular_has(const char *path, const char *text);

/* Whether the first @most bytes of the file contain these. */
bool regular_has_bytes(const char *path, size_t most, const void *bytes, size_t size);

#endif
