/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How text looks on a terminal: no line breaks inside words, and bold or colour for what must not
 * be overlooked.
 */
#ifndef TOOLS_STYLE_H
#define TOOLS_STYLE_H

#include <stdio.h>

enum style { STYLE_BOLD, STYLE_PROBLEM };

/*
 * Prints @text so. Plain where @out is no terminal, where TERM is "dumb", and where NO_COLOR is set
 * and not empty.
 */
void style_print(FILE *out, enum style style, const char *text);

/* The columns of @out; 0 when it is no terminal: lines are not broken there, for grep(1). */
unsigned int style_width(FILE *out);

/*
 * Prints @text, broken between words where it would go beyond @width (0: nowhere). It begins in
 * column @column; further lines are indented by @indent.
 */
void style_wrap(FILE *out, const char *text, unsigned int column, unsigned int indent,
		unsigned int width);

#endif
