/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The threads that have got events, and the QP or SRQ that waits for each to be acknowledged.
 * `xrc-compat ps --stacks` reads this in another process.
 */
#ifndef COMPAT_EVENT_HOLDER_H
#define COMPAT_EVENT_HOLDER_H

#include <stdint.h>

#define EVENT_HOLDERS 16	/* of more, those that got their events first are forgotten */

struct event_holder {
	_Atomic uintptr_t object;	/* that the program has; 0: this place is free */
	_Atomic int thread;
};

extern struct event_holder event_holders[EVENT_HOLDERS];

#endif
