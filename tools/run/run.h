/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What `run` sets and the lines of `env` set as well. */
#ifndef XRC_COMPAT_TOOLS_RUN_H
#define XRC_COMPAT_TOOLS_RUN_H

#include "tools/program/program.h"

/*
 * The libxrc-compat.so.1 for programs of @bits, and its headers. 0, or TOOL_EXIT_REFUSED after a
 * message.
 */
int find_library(int bits, const char **library, struct elf_info *elf);

/*
 * MVAPICH2 2.3 opens what this variable names, or libibverbs.so of development packages. A value of
 * the user stays.
 */
#define QUIRK_VARIABLE "MV2_LIBIBVERBS_PATH"
int set_quirk(void);

#endif
