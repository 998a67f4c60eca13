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

__attribute__((format(printf, 3, 0))) static void print(FILE *out, const char *before,
							const char *format, va_list args)
{
	char *line;

	if (vasprintf(&line, format, args) < 0)
		return;
	text_clean(line);
	fputs(before, out);
	if (out == stdout)
		style_wrap(line, 0, TEXT_COLUMN, style_width());
	else
		fputs(line, out);
	fputc('\n', out);
	free(line);
}

#define PRINT(out, before, format) \
	do { \
		va_list args; \
\
		va_start(args, format); \
		print(out, before, format, args); \
		va_end(args); \
	} while (0)

void say(const char *format, ...)
{
	PRINT(stderr, "xrc-compat: ", format);
}

void advise(const char *format, ...)
{
	PRINT(stderr, "            ", format);
}

void print_line(const char *format, ...)
{
	PRINT(stdout, "", format);
}

int refuse_missing(const char *what, const char *package)
{
	say("%s was not found", what);
	advise("install the package %s, or build xrc-compat again", package);
	return TOOL_EXIT_REFUSED;
}
