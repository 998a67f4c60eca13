/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tools' messages, in which unprintable characters become '?'. */
#ifndef XRC_COMPAT_TOOLS_MESSAGE_H
#define XRC_COMPAT_TOOLS_MESSAGE_H

#include <stdio.h>

/* Prints a line with @before in front. Standard output is broken to the width of the terminal. */
void message(FILE *out, const char *before, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A message on standard error. */
#define say(...) message(stderr, "xrc-compat: ", __VA_ARGS__)

/* The same, and @status. */
#define refuse(status, ...) (say(__VA_ARGS__), (status))

/* A second line under a refusal, with advice. */
#define advise(...) message(stderr, "            ", __VA_ARGS__)

/* One line of a report, on standard output. */
#define print_line(...) message(stdout, "", __VA_ARGS__)

/* Says that @what, a file of @package of ours, was not found. TOOL_EXIT_REFUSED. */
int refuse_missing(const char *what, const char *package);

#endif
