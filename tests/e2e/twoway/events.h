/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The groups of rows about async events of receive QPs and SRQs, in a program that is one-way. */
#ifndef TESTS_E2E_TWOWAY_EVENTS_H
#define TESTS_E2E_TWOWAY_EVENTS_H

#include <pthread.h>

#include "end.h"
#include "receiver.h"
#include "row.h"

extern const struct row flagged_rows[], thread_rows[], cancel_rows[];
extern const size_t flagged_rows_count, thread_rows_count, cancel_rows_count;

#define GROUP(name) \
	const size_t name##_rows_count = sizeof(name##_rows) / sizeof(name##_rows[0])

/** event_number - what the whole union holds, of which flagged events use the lower half. */
uint64_t event_number(const struct ibv_async_event *event);

/** flagged - a type with the flag, as the number it is (bit 31 is no int). */
static inline uint32_t flagged(enum ibv_event_type type)
{
	return (uint32_t)type | 0x80000000u;
}

/* A thread that waits for one event; end is set by who starts it. */
struct waiter {
	struct end *end;
	volatile int done;
	int result, error;
	struct ibv_async_event event;
};

/** events_get_once - the body of such a thread; its argument is the waiter. */
void *events_get_once(void *arg);

/** events_start - a thread. */
pthread_t events_start(void *(*run)(void *), void *arg);

/** seconds - on a clock that does not jump. */
double seconds(void);

#endif
