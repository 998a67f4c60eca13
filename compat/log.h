/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one place that prints, on stderr, and only with XRC_COMPAT_VERBOSE=1. Old programs' output is parsed by scripts.
 */
#ifndef COMPAT_LOG_H
#define COMPAT_LOG_H

/** log_line - one line, printf-style, without its newline. Nothing unless verbose. errno is kept. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** log_once - as log_line, but only the first time for this flag (a static bool of the caller: one per cause). */
#define log_once(flag, ...)                                                                                            \
	do {                                                                                                           \
		if (!__atomic_exchange_n(&(flag), true, __ATOMIC_RELAXED))                                             \
			log_line(__VA_ARGS__);                                                                         \
	} while (0)

#endif
