/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Environment defaults that single old programs need. */
#ifndef TOOLS_QUIRKS_H
#define TOOLS_QUIRKS_H

#include <stddef.h>

/* A variable that is to have @value unless the user has set it. */
struct quirk {
	const char *name;
	const char *value;
};

extern const struct quirk quirks[];
extern const size_t quirks_count;

/** quirks_apply - set each variable that is not set yet. 0, or -1 with errno ENOMEM. */
int quirks_apply(void);

#endif
