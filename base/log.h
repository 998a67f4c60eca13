/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The library's messages, on stderr. Scripts parse the output of old programs, so a message is
 * printed only if XRC_COMPAT_VERBOSE or XRC_COMPAT_SUMMARY asks for it.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "settings.h"

/* Prints one line, printf-style, given without its newline. errno is kept. */
void log_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, but only if verbose. */
#define log_line(...) (settings.verbose ? log_print(__VA_ARGS__) : (void)0)

/* Prints a line at the first call with this flag, which is a static bool of the caller. */
#define log_once(flag, ...) \
	do { \
		if (!__atomic_exchange_n(&(flag), true, __ATOMIC_RELAXED)) \
			log_line(__VA_ARGS__); \
	} while (0)

#endif
