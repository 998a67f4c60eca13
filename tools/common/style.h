/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How standard output looks on a terminal: no line breaks inside words, and bold or colour for what
 * must not be overlooked.
 */
#ifndef TOOLS_STYLE_H
#define TOOLS_STYLE_H

enum style { STYLE_BOLD, STYLE_PROBLEM };

/* Prints plain text where there is no terminal, where TERM is "dumb", and where NO_COLOR is set. */
void style_print(enum style style, const char *text);

/* The columns of the terminal; 0 without one: lines are not broken there, for grep(1). */
unsigned int style_width(void);

/*
 * Prints @text, broken between words where it would go beyond @width (0: nowhere). It begins in
 * column @column; further lines are indented by @indent.
 */
void style_wrap(const char *text, unsigned int column, unsigned int indent, unsigned int width);

#endif
