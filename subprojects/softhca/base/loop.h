/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Watches: descriptors and processes that the daemon waits for. */
#ifndef SOFTHCA_LOOP_H
#define SOFTHCA_LOOP_H

#include "sleep.h"

#include <stdint.h>
#include <sys/types.h>

/* A watched descriptor. A member of the structure that owns it. */
struct watch {
	void (*ready)(struct watch *watch, uint32_t events);
	uint32_t ends; /* epoll's events by which its owner ends: served before everything else */
};

/* @sleeps_on_epoll: descriptors wake the daemon faster than programs that ring. 0 or -errno. */
int loop_init(bool sleeps_on_epoll);

/* @events as for epoll; 0 = only errors and hang-ups. 0 or -errno. */
int loop_watch(int fd, uint32_t events, struct watch *watch);
int loop_change(int fd, uint32_t events, struct watch *watch);
void loop_forget(int fd);

/* Between these calls there is room for one descriptor, even if the daemon has all that it may. */
void loop_lend_spare(void);
void loop_take_spare(void);

/* As accept4(). If no descriptor is left, it closes the connection and returns -1. */
int loop_accept(int listener, int flags);

/* Calls back when the process has ended. Returns a pidfd that the caller closes, or -errno. */
int loop_watch_process(pid_t pid, struct watch *watch);

/*
 * Sleeps at most @nanoseconds, and calls the watches that are ready. If any owner has ended, it
 * calls only the watches of such owners. 0 or -errno.
 */
int loop_wait(uint64_t nanoseconds, enum sleep_end *end);

#endif
