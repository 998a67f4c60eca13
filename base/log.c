/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Prints the library's messages. No other file of the library prints. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A line is one write(2), so that the lines of many ranks on one terminal do not mix. */
#define LINE_MAX_BYTES 1024

void log_print(const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	int saved_errno = errno, prefix;
	ssize_t written;
	va_list args;

	prefix = snprintf(line, sizeof(line), "xrc-compat[%d]: ", (int)getpid());
	va_start(args, format);
	vsnprintf(line + prefix, sizeof(line) - (size_t)prefix - 1, format, args);
	va_end(args);
	strcat(line, "\n");
	written = write(STDERR_FILENO, line, strlen(line));
	(void)written;	/* a closed stderr takes no message */
	errno = saved_errno;
}
