/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The library's messages. They go to stderr, and only with XRC_COMPAT_VERBOSE=1, because scripts
 * parse the output of old programs.
 */
#ifndef COMPAT_LOG_H
#define COMPAT_LOG_H

#include <stdbool.h>

/* Prints one line, printf-style, given without its newline, if verbose. errno is kept. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, but once for this flag: a static bool of the caller, one for each cause. */
#define log_once(flag, ...) \
	do { \
		if (!__atomic_exchange_n(&(flag), true, __ATOMIC_RELAXED)) \
			log_line(__VA_ARGS__); \
	} while (0)

#endif
