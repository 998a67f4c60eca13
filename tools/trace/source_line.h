/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Where in the sources an address of a program or library is. */
#ifndef XRC_COMPAT_TOOLS_SOURCE_LINE_H
#define XRC_COMPAT_TOOLS_SOURCE_LINE_H

#include <stdint.h>

/*
 * "file.c:12", or "" when the module has no debug information or there is no addr2line(1) on this machine. Asks once
 * per address; the text stays.
 */
const char *source_line(const char *module, uint64_t offset);

#endif
