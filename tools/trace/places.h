/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The function and the line of the source that an address of a program or library is in. */
#ifndef XRC_COMPAT_TOOLS_PLACES_H
#define XRC_COMPAT_TOOLS_PLACES_H

#include "library/record.h"

#include <stdbool.h>

struct place {
	char symbol[64];	/* "" unknown */
	uint64_t symbol_offset;	/* behind the beginning of the function */
	/* "file.c:12"; "" without debug information, or without addr2line(1) */
	char line[256];
};

/*
 * Looks once per address at the symbol table of the module's file, static functions too, and asks
 * addr2line(1), which knows every kind of debug information.
 */
const struct place *place_of(const struct trace_frame *frame);

/* True for a frame below main(): of the C library, or the program's start code. */
bool place_is_start(const struct trace_frame *frame);

#endif
