/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Breaks lines between words, and marks words by escape sequences. */
#include "style.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_marked(void)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

void style_print(enum style style, const char *text)
{
	bool marked = is_marked();

	printf("%s%s%s",
	       !marked			? ""
	       : style == STYLE_PROBLEM ? "\033[1;31m"
					: "\033[1m",
	       text, marked ? "\033[0m" : "");
}

unsigned int style_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

void style_wrap(const char *text, unsigned int column, unsigned int indent, unsigned int width)
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
