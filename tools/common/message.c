/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tools' messages, line by line. */
#include "message.h"
#include "command.h"
#include "style.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_COLUMN 12	/* "Program     /bin/true" */

__attribute__((format(printf, 2, 0))) static void print(const char *before, const char *format,
							va_list args)
{
	char *line;

	if (vasprintf(&line, format, args) < 0)
		return;
	text_clean(line);
	fprintf(stderr, "%s%s\n", before, line);
	free(line);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("xrc-compat: ", format, args);
	va_end(args);
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

int refuse_missing(const char *what)
{
	say("%s was not found", what);
	advise("install xrc-compat again, completely");
	return TOOL_EXIT_REFUSED;
}

void print_line(const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	if (vasprintf(&line, format, args) >= 0) {
		text_clean(line);
		style_wrap(stdout, line, 0, TEXT_COLUMN, style_width(stdout));
		putchar('\n');
		free(line);
	}
	va_end(args);
}
