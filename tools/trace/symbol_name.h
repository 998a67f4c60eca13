/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The function that a frame of a backtrace is in, where the traced process could not name it. */
#ifndef XRC_COMPAT_TOOLS_SYMBOL_NAME_H
#define XRC_COMPAT_TOOLS_SYMBOL_NAME_H

#include "library/record.h"

/* Fills in frame->symbol and symbol_offset from the symbol table of the module's file, static functions too; else leaves them. */
void symbol_name(struct trace_frame *frame);

#endif
