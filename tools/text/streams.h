/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The standard streams of a command: closed ones are no danger, and lost output is noticed. */
#ifndef TOOLS_STREAMS_H
#define TOOLS_STREAMS_H

#include <stdio.h>

/* Returns NULL if all output of @stream was written, else the reason why not. */
const char *streams_flush(FILE *stream);

/* Closes @stream, too. */
const char *streams_close(FILE *stream);

/*
 * The body of a command's main(). Executes the command, and returns its exit status, or
 * TOOL_EXIT_REFUSED after a message that begins with @name when not all of standard output was
 * written: a full disk is no success. Meanwhile the number of each closed standard descriptor is
 * taken, so that no file, lock or socket gets that number. Reads and writes there still fail, and a
 * program that is executed finds the descriptor closed.
 */
int streams_main(const char *name, int (*execute)(int argc, char **argv), int argc, char **argv);

#endif
