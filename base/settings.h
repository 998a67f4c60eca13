/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The settings of verbs, read once: getenv(3) in a verb would race with the program's setenv(3).
 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stdbool.h>

enum two_way_setting {
	TWO_WAY_AUTO,
	TWO_WAY_ON,
	TWO_WAY_OFF,
};

struct settings {
	bool verbose;			/* XRC_COMPAT_VERBOSE */
	enum two_way_setting two_way;	/* XRC_COMPAT_TWO_WAY */
};

/* Valid from the first verb on, and read-only. */
extern struct settings settings;

/*
 * The first verb reads the settings from the environment. A setuid program has its caller's
 * environment, so it gets the defaults.
 */
void settings_read(void);

/* Whether a variable is set, and neither empty nor 0. */
bool settings_flag(const char *name);

#endif
