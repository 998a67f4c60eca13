/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A terminal on which the same text is shown again and again. */
#ifndef TERMINAL_SCREEN_H
#define TERMINAL_SCREEN_H

/* From now on a new size of the terminal is noted, for screen_wait(). */
void screen_begin(void);

/* Waits so long, or until the terminal has another size, also one that it got meanwhile. */
void screen_wait(unsigned int seconds);

/*
 * Shows @text, in which nothing but line ends controls a terminal, from the upper left, cut to the
 * terminal's size as it is now; what does not fit is counted in the last line.
 */
void screen_show(const char *text);

/* Prints the lines of @text, cut to the terminal's width. */
void screen_lines(const char *text);

#endif
