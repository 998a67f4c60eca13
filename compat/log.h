/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The library's settings, read once: getenv(3) in a verb would race with the program's setenv(3).
 * Its messages go to stderr, and only with XRC_COMPAT_VERBOSE=1, because scripts parse the output
 * of old programs.
 */
#ifndef COMPAT_LOG_H
#define COMPAT_LOG_H

#include <stdbool.h>

enum two_way_setting {
	TWO_WAY_AUTO,
	TWO_WAY_ON,
	TWO_WAY_OFF,
	TWO_WAY_UNKNOWN,	/* another word: the library warns, and decides as with auto */
};

struct settings {
	bool verbose;			/* XRC_COMPAT_VERBOSE */
	enum two_way_setting two_way;	/* XRC_COMPAT_TWO_WAY */
	char two_way_text[24];		/* the word, cut */
	const char *table_dir;		/* XRC_COMPAT_TABLE_DIR */
};

/**
 * settings - from the environment as it was at the first call, which the program's first verb
 * makes. A setuid program has its caller's environment, so there they are the defaults.
 */
const struct settings *settings(void);

/** log_line - one line, printf-style, without its newline, if verbose. errno is kept. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** log_once - log_line, but once for this flag (a static bool of the caller: one per cause). */
#define log_once(flag, ...) \
	do { \
		if (!__atomic_exchange_n(&(flag), true, __ATOMIC_RELAXED)) \
			log_line(__VA_ARGS__); \
	} while (0)

#endif
