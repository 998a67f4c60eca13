/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the daemon waits for. */
#ifndef SOFTHCA_LOOP_H
#define SOFTHCA_LOOP_H

#include <stdint.h>
#include <sys/types.h>

/* A watched descriptor. A member of the structure that owns it. */
struct watch {
	void (*ready)(struct watch *watch, uint32_t events);
};

int loop_init(void);

/* @events as for epoll; 0 = only errors and hang-ups. 0 or -errno. */
int loop_watch(int fd, uint32_t events, struct watch *watch);
void loop_forget(int fd);

/* Calls once the process has ended. Its pidfd, to be forgotten and closed, or -errno. */
int loop_watch_process(pid_t pid, struct watch *watch);

/* Waits at most @nanoseconds (UINT64_MAX = without end) and calls what is ready. */
void loop_wait(uint64_t nanoseconds);

#endif
