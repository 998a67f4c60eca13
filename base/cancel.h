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

/* Begins a section. A thread that can be cancelled asynchronously may end here. */
void cancel_hold(struct cancel_hold *hold);

/* Ends a section. A thread that was cancelled ends here, or at its next cancellation point. */
void cancel_release(const struct cancel_hold *hold);

#endif
