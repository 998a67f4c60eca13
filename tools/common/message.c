/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tools' messages, line by line. */
#include "message.h"
#include "command.h"
#include "text.h"

#include <getopt.h>
#include <limits.h>
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

int advise_usage(const struct command *command)
{
	advise("usage: xrc-compat %s%s%s", command->name, command->synopsis[0] ? " " : "", command->synopsis);
	return TOOL_EXIT_REFUSED;
}

int print_usage(const struct command *command)
{
	printf("usage: xrc-compat %s%s%s\n", command->name, command->synopsis[0] ? " " : "", command->synopsis);
	if (command->more_help)
		command->more_help();
	return TOOL_EXIT_OK;
}

/* Whether the synopsis has @word as an option with a value: "[--port PORT]", "[--model=NAME]". */
static bool takes_value(const char *synopsis, const char *word)
{
	size_t length = strcspn(word, "="); /* "--port=" without a value is the same */

	for (const char *at = synopsis; (at = strchr(at, '-')); at++) {
		if (at > synopsis && strchr("[ ", at[-1]) && !strncmp(at, word, length) && strchr(" =", at[length]))
			return true;
	}
	return false;
}

int refuse_word(const struct command *command, const char *word)
{
	const char *why = "unexpected argument";

	if (word[0] == '-')
		why = takes_value(command->synopsis, word) ? "its value is missing" : "unknown option";
	refuse(0, "%s: %s: %s", command->name, word, why);
	return advise_usage(command);
}

int refuse_option(const struct command *command, char *const *argv)
{
	char letter[] = { '-', (char)optopt, '\0' };

	/* Of several letters in one word, optind tells nothing before the last. */
	return refuse_word(command, optopt && optopt <= UCHAR_MAX ? letter : argv[optind - 1]);
}

void print_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(stdout, "", format, args);
	va_end(args);
}
