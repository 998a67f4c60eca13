/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Prints messages and text of others safely, breaks lines between words, and marks words. */
#include "message.h"
#include "command.h"
#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TEXT_COLUMN 12	/* "Program     /bin/true" */

/* ---- text ---- */

/* Cleans @text, of @size bytes, but for the line breaks at the ends of its @format. */
static void clean_line(const char *format, char *text, size_t size)
{
	size_t length = strlen(format), first = strspn(format, "\n");
	bool is_line = length > first && format[length - 1] == '\n';

	if (is_line)
		text[size - 1] = '\0';
	text_clean(text + first);
	if (is_line)
		text[size - 1] = '\n';
}

void print_text(FILE *out, const char *format, ...)
{
	va_list args;
	char *text;
	int size;

	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	clean_line(format, need_memory(size < 0 ? NULL : text), (size_t)size);
	fwrite_unlocked(text, 1, (size_t)size, out);
	free(text);
}

/* ---- terminals ---- */

void print_styled(const char *style, const char *text)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	bool marked = style[0] && isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && terminal &&
		      strcmp(terminal, "dumb") != 0;

	printf("%s%s%s", marked ? style : "", text, marked ? "\033[0m" : "");
}

unsigned int terminal_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

void print_wrapped(const char *text, unsigned int column, unsigned int indent, unsigned int width)
{
	bool first = true;

	while (*text) {
		size_t blanks = strspn(text, " "), length = strcspn(text + blanks, " ");

		if (width && !first && column + blanks + length > width) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		} else {
			printf("%*s", (int)blanks, "");
			column += (unsigned int)blanks;
		}
		print_text(stdout, "%.*s", (int)length, text + blanks);
		column += (unsigned int)length;
		text += blanks + length;
		first = false;
	}
}

/* ---- messages ---- */

void message(FILE *out, const char *before, char *line)
{
	if (out == stdout)
		print_wrapped(line, 0, TEXT_COLUMN, terminal_width());
	print_text(out, "%s%s\n", before, out == stdout ? "" : line);
	free(line);
}

int refuse_missing(const char *what, const char *package)
{
	say("%s was not found", what);
	advise("install the package %s, or build xrc-compat again", package);
	return TOOL_EXIT_REFUSED;
}
