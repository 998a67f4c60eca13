/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Environment defaults that single old programs need. */
#ifndef TOOLS_QUIRKS_H
#define TOOLS_QUIRKS_H

/** quirks_apply - set each variable that is not set yet. 0, or -1 with errno ENOMEM. */
int quirks_apply(void);

#endif
