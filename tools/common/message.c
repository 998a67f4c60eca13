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

void message(FILE *out, const char *before, const char *format, ...)
{
	va_list args;
	char *line;
	int length;

	va_start(args, format);
	length = vasprintf(&line, format, args);
	va_end(args);
	if (length < 0)
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

int refuse_missing(const char *what, const char *package)
{
	say("%s was not found", what);
	advise("install the package %s, or build xrc-compat again", package);
	return TOOL_EXIT_REFUSED;
}
