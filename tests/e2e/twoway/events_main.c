/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events as programs with receive QPs get, acknowledge and ignore them. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "events.h"

uint64_t event_number(const struct ibv_async_event *event)
{
	uint64_t number = 0; /* of a 32-bit program's union there is no more */

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

	waiter->result = ibv_get_async_event(waiter->end->context, &waiter->event);
	waiter->error = errno;
	waiter->done = 1;
	return NULL;
}

double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : NULL;

	if (argc > 1 && !strcmp(argv[1], "flagged"))
		return rows_run(flagged_rows, flagged_rows_count, only);
	if (argc > 1 && !strcmp(argv[1], "thread"))
		return rows_run(thread_rows, thread_rows_count, only);
	if (argc > 1 && !strcmp(argv[1], "cancel"))
		return rows_run(cancel_rows, cancel_rows_count, only);
	fprintf(stderr, "usage: %s flagged|thread|cancel [PART_OF_NAME]\n", argv[0]);
	return 2;
}
