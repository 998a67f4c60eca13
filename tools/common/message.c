/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Prints messages, breaks lines between words, and marks words by escape sequences. */
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

/* ---- terminals ---- */

static bool is_marked(void)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

void print_styled(const char *style, const char *text)
{
	bool marked = is_marked();

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
		fwrite(text + blanks, 1, length, stdout);
		column += (unsigned int)length;
		text += blanks + length;
		first = false;
	}
}

/* ---- messages ---- */

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
		print_wrapped(line, 0, TEXT_COLUMN, terminal_width());
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
