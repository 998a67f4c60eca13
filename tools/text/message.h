/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Messages, text of others, and how standard output looks on a terminal. */
#ifndef TOOLS_MESSAGE_H
#define TOOLS_MESSAGE_H

#include "memory.h"

#include <stdio.h>

/*
 * fprintf(3), with '?' for each byte that begins no printable character: names in files and tables
 * of others may hold escape sequences. Only the line breaks at the ends of @format stay.
 */
void print_text(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Prints @line, as print_text() does, in one write, with @before in front. Standard output, where
 * @before is empty, is broken to the width of the terminal. Frees @line.
 */
void message(FILE *out, const char *before, char *line);

/* A message on standard error. */
#define say(...) message(stderr, "xrc-compat: ", format_string(__VA_ARGS__))

/* The same, and @status. */
#define refuse(status, ...) (say(__VA_ARGS__), (status))

/* A second line under a refusal, with advice. */
#define advise(...) message(stderr, "            ", format_string(__VA_ARGS__))

/* One line of a report, on standard output. */
#define print_line(...) message(stdout, "", format_string(__VA_ARGS__))

/* Says that @what, a file of @package of ours, was not found. TOOL_EXIT_REFUSED. */
int refuse_missing(const char *what, const char *package);

#define STYLE_BOLD "\033[1m"
#define STYLE_PROBLEM "\033[1;31m"

/* Prints plain text without a terminal, with TERM unset or "dumb", and with a NO_COLOR. */
void print_styled(const char *style, const char *text);

/* The columns of the terminal; 0 without one: lines are not broken there, for grep(1). */
unsigned int terminal_width(void);

/*
 * Prints @text as print_text() does, broken between words where it would go beyond @width (0:
 * nowhere). It begins in column @column; further lines are indented by @indent.
 */
void print_wrapped(const char *text, unsigned int column, unsigned int indent, unsigned int width);

#endif
