/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sections in which the calling thread cannot be cancelled. Verbs call cancellation points, and a
 * thread that ended there would never release the library's lock and counts.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

/* A section: the settings that the thread had before it. */
struct cancel_hold {
	int state, type;
};

/* Begins a section. Does not return if the thread is being cancelled already. */
void cancel_hold(struct cancel_hold *hold);

/* Ends a section. Does not return if the thread was cancelled meanwhile. */
void cancel_release(const struct cancel_hold *hold);

#endif
