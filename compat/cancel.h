/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sections in which the calling thread cannot be cancelled. Verbs call cancellation points, and a
 * thread that ended there would never release the library's lock and counts.
 */
#ifndef COMPAT_CANCEL_H
#define COMPAT_CANCEL_H

/** struct cancel_hold - a section: the thread's settings before it. */
struct cancel_hold {
	int state, type;
};

/** cancel_hold - begin a section. Does not return if the thread is being cancelled already. */
void cancel_hold(struct cancel_hold *hold);

/** cancel_release - end it. Does not return if the thread was cancelled meanwhile. */
void cancel_release(const struct cancel_hold *hold);

#endif
