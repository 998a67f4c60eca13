/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tools' messages, line by line. */
#include "message.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void print(FILE *out, const char *before, const char *format, va_list args)
{
	char *line;

	if (vasprintf(&line, format, args) < 0)
		return;
	text_clean(line);
	fprintf(out, "%s%s\n", before, line);
	free(line);
}

int refuse(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(stderr, "xrc-compat: ", format, args);
	va_end(args);
	return status;
}

void advise(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(stderr, "            ", format, args);
	va_end(args);
}

void print_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(stdout, "", format, args);
	va_end(args);
}
