/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Paints over what is there instead of clearing first, which would flicker. */
#include "screen.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static sigset_t resizing(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	return set;
}

void screen_begin(void)
{
	const sigset_t set = resizing();

	/* Held back, it waits for us if it comes before we wait for it. */
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void screen_wait(unsigned int seconds)
{
	const struct timespec time = { .tv_sec = (time_t)seconds };
	const sigset_t set = resizing();

	sigtimedwait(&set, NULL, &time);
}

static struct winsize size_now(void)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	return size;
}

/* Within a character of UTF-8, behind its first byte. */
static bool goes_on(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The first @columns characters of a line. */
static void show_line(const char *line, size_t length, unsigned int columns)
{
	size_t used = 0;

	while (used < length && columns--) {
		do
			used++;
		while (used < length && goes_on(line[used]));
	}
	fwrite(line, 1, used, stdout);
}

void screen_lines(const char *text)
{
	for (unsigned int columns = size_now().ws_col; *text; text += strcspn(text, "\n") + 1) {
		show_line(text, strcspn(text, "\n"), columns);
		putchar('\n');
	}
}

static unsigned int count_lines(const char *text)
{
	unsigned int lines = 0;

	for (; *text; text += strcspn(text, "\n") + 1)
		lines++;
	return lines;
}

void screen_show(const char *text)
{
	struct winsize size = size_now();
	unsigned int lines = count_lines(text);
	unsigned int shown = lines <= size.ws_row ? lines : size.ws_row - 1u;

	/*
	 * Each line is erased before it is written: after the last column an erasure would take the
	 * last character.
	 */
	fputs("\033[H", stdout);
	for (unsigned int i = 0; i < shown; i++) {
		size_t length = strcspn(text, "\n");

		fputs(i ? "\n" : "", stdout);
		fputs(i + 1 == lines ? "\033[J" : "\033[K", stdout);
		show_line(text, length, size.ws_col);
		text += length + 1;
	}
	if (shown < lines)
		printf("%s\033[J... and %u more", shown ? "\n" : "", lines - shown);
	fputs(lines ? "" : "\033[J", stdout);
	fflush(stdout);
}
