/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon process. */
#ifndef SOFTHCA_DAEMON_H
#define SOFTHCA_DAEMON_H

#include <softhca/machine/settings.h>

#include <sys/types.h>

struct daemon_plan {
	struct settings settings;
	const char *directory; /* exists, belongs to us, and is locked */
	int lock;	       /* the lock's descriptor */
	/* ends when this process and all contexts are gone; 0 = when asked to */
	pid_t until;
};

/*
 * Starts the daemon, out of the caller's session and without being its child, and returns when it
 * serves. 0, or -errno with a sentence in @why. It removes the directory when it ends.
 */
int daemon_spawn(const struct daemon_plan *plan, char *why, size_t size);

#endif
