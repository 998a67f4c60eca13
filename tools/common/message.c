/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tools' messages, line by line. */
#include "message.h"
#include "command.h"
#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Whether the usage line has @word as an option with a value: "[--port PORT]", "[--model=NAME]". */
static bool takes_value(const char *usage_line, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = usage_line; (at = strstr(at, word)); at += length) {
		if (strchr("[ ", at[-1]) && strchr(" =", at[length]))
			return true;
	}
	return false;
}

int refuse_word(const char *command, const char *usage_line, const char *word)
{
	const char *why = "unexpected argument";

	if (word[0] == '-')
		why = takes_value(usage_line, word) ? "its value is missing" : "unknown option";
	refuse(0, "%s: %s: %s", command, word, why);
	advise("%s", usage_line);
	return TOOL_EXIT_REFUSED;
}

void print_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(stdout, "", format, args);
	va_end(args);
}
