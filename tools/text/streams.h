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
 * The body of a command's main(). Returns the command's exit status; or TOOL_EXIT_REFUSED, after a
 * message that begins with @name, if not all of standard output was written. Meanwhile no file gets
 * the number of a closed standard descriptor, which an executed program finds closed.
 */
int streams_main(const char *name, int (*execute)(int argc, char **argv), int argc, char **argv);

#endif
