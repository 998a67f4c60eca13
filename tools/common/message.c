/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tools' messages, line by line. */
#include "common.h"
#include "terminal/style.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LABEL 16

static void print(const char *before, const char *format, va_list args)
{
	char *line;

	if (vasprintf(&line, format, args) < 0)
		return;
	text_clean(line);
	fprintf(stderr, "%s%s\n", before, line);
	free(line);
}

int refuse(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("xrc-compat: ", format, args);
	va_end(args);
	return status;
}

void advise(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("            ", format, args);
	va_end(args);
}

/* The column of the second part of a line: "Program     /bin/true". */
static unsigned int text_column(const char *line)
{
	const char *gap = strstr(line, "  ");
	size_t column = gap ? (size_t)(gap - line) + strspn(gap, " ") : 0;

	return column <= MOST_LABEL ? (unsigned int)column : 0;
}

void print_line(const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	if (vasprintf(&line, format, args) >= 0) {
		text_clean(line);
		style_wrap(stdout, line, 0, text_column(line), style_width(stdout));
		putchar('\n');
		free(line);
	}
	va_end(args);
}
