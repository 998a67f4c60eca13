/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * HOLDS(expression) - prints PROGRAM, the expression and errno, and ends the process, unless the
 * expression is true. C and C++.
 */
#ifndef HOLDS_H
#define HOLDS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void fail_unless(int right, const char *what)
{
	if (right)
		return;
	printf(PROGRAM ": %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

#define HOLDS(expression) fail_unless((expression) ? 1 : 0, #expression)

#endif
