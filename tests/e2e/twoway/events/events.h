/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The groups of rows about async events of receive QPs and SRQs, in a program that is one-way. */
#ifndef TESTS_E2E_TWOWAY_EVENTS_H
#define TESTS_E2E_TWOWAY_EVENTS_H

#include <pthread.h>

#include "../end.h"
#include "../receiver.h"
#include "../../row.h"

/**
 * event_number - the whole union; a flagged event has its QP number in the lower half and zeros in
 * the upper one.
 */
uint64_t event_number(const struct ibv_async_event *event);

/** flagged - a type with the flag; unsigned, as bit 31 does not fit into an int. */
static inline uint32_t flagged(enum ibv_event_type type)
{
	return (uint32_t)type | 0x80000000u;
}

/* Argument (end) and results of a thread that waits for one event. */
struct waiter {
	struct end *end;
	volatile int done;
	volatile pid_t thread;
	int result, err;
	struct ibv_async_event event;
};

/** events_get_once - for events_start(): waits for one event; the argument is a struct waiter. */
void *events_get_once(void *arg);

/** events_start - starts a thread. */
pthread_t events_start(void *(*run)(void *), void *arg);

/** events_await_sleep - returns when the thread, which writes its number there, sleeps. */
void events_await_sleep(const volatile pid_t *thread);

/** events_start_waiting - starts events_get_once(), and returns when its thread sleeps. */
pthread_t events_start_waiting(struct waiter *waiter);

#endif
