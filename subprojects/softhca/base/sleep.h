/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's sleep, which ends when a program rings, a descriptor is ready, or time is over. */
#ifndef SOFTHCA_SLEEP_H
#define SOFTHCA_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * @epoll_fd ends the sleep while a descriptor in it is ready. Programs that ring end it, too: by
 * @bell_fd, an eventfd in that epoll; or, if that is -1, faster than the epoll does. 0 or -errno.
 */
int sleep_init(int epoll_fd, int bell_fd);

/* The memfd of the page that programs map (proto.h). */
int sleep_page(void);

/* Programs that ring from now on end the next sleep. The caller then looks once more. */
void sleep_announce(void);

/* SLEEP_NONE: there was no sleep. */
enum sleep_end { SLEEP_NONE, SLEEP_WOKEN, SLEEP_OVER };
/* Sleeps at most so long. The caller has called sleep_announce(). */
enum sleep_end sleep_begin(uint64_t nanoseconds);

/* The processor of the program that woke the daemon last. */
int sleep_waker(void);

/* Whether a descriptor in the epoll is ready. It goes on counting as ready until sleep_served(). */
bool sleep_has_ready(void);
void sleep_served(void);

#endif
