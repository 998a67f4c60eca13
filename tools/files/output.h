/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The files that commands write. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdio.h>

/*
 * Opens a file for writing. In @pattern %p stands for the process, %h for the host, %r for the MPI
 * rank ("none" where there is none), and %% for %. Instead of a regular file that is there already,
 * NAME.1, NAME.2, ... is taken. A link, FIFO, device or directory is refused, but /dev/stdout and
 * /dev/stderr duplicate the command's descriptors. @name gets the name. NULL after a message that
 * names @what.
 */
FILE *output_open(const char *pattern, const char *what, const char **name);

#endif
