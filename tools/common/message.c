// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* The tools' messages on stderr. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>

int refuse(int status, const char *format, ...)
{
	va_list args;

	fputs("xrc-compat: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

void advise(const char *format, ...)
{
	va_list args;

	fputs("            ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
