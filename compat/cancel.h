/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Sections in which the calling thread cannot be cancelled, however it has set itself up. */
#ifndef XRC_COMPAT_CANCEL_H
#define XRC_COMPAT_CANCEL_H

#include <stdbool.h>

struct cancel_hold {
	int state, type;
};

/* May not return, when a cancellation is under way. */
void cancel_hold(struct cancel_hold *hold);
/* May not return: what came meanwhile takes effect here. */
void cancel_release(const struct cancel_hold *hold);

/** cancel_is_held - whether the calling thread is in such a section. Then what calls is a handler of a signal. */
bool cancel_is_held(void);

#endif
