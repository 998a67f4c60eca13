/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events as programs with receive QPs get, acknowledge and ignore them. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../../../thread_state.h"
#include "events.h"

uint64_t event_number(const struct ibv_async_event *event)
{
	uint64_t number = 0; /* a 32-bit program's union has only the lower half */

	memcpy(&number, &event->element, sizeof(event->element));
	return number;
}

pthread_t events_start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, arg));
	return thread;
}

void *events_get_once(void *arg)
{
	struct waiter *waiter = arg;

	waiter->thread = gettid();
	waiter->result = ibv_get_async_event(waiter->end->context, &waiter->event);
	waiter->err = errno;
	waiter->done = 1;
	return NULL;
}

void events_await_sleep(const volatile pid_t *thread)
{
	char state;

	while (!*thread)		/* the row's time limit ends both */
		usleep(500);
	while ((state = thread_state(*thread)) != 'S') {
		must(state);
		usleep(500);
	}
}

pthread_t events_start_waiting(struct waiter *waiter)
{
	pthread_t thread = events_start(events_get_once, waiter);

	events_await_sleep(&waiter->thread);
	return thread;
}
