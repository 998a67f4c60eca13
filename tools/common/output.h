/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Files that a command writes for its user. Several processes may be given the same name. */
#ifndef XRC_COMPAT_TOOLS_OUTPUT_H
#define XRC_COMPAT_TOOLS_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Opens a file for writing. In @pattern %p stands for the process, %h for the host, %r for the MPI
 * rank ("none" where there is none), and %% for %. A regular file in which something stands, or
 * that another process is writing, is never touched: NAME.1, NAME.2, ... is taken instead. @name
 * gets the name. NULL after a message that names @what.
 */
FILE *output_open(const char *pattern, const char *what, char *name, size_t size);

#endif
