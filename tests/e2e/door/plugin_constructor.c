/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A plugin whose constructor calls a verb while another thread is in the first verb of the process.
 * The constructor holds the loader's lock, which the other thread needs to find libibverbs. So the
 * constructor's verb must not wait for the other thread.
 */

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "visible.h"

DOOR_VISIBLE int plugin_main(void);

static pthread_t first;
static int err_of_first, err_of_constructor;

static void *call(void *err)
{
	*(int *)err = ibv_close_xrc_domain(NULL);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	alarm(40);
	pthread_create(&first, NULL, call, &err_of_first);
	usleep(200000);		/* for the thread to be waiting for the loader's lock */
	call(&err_of_constructor);
}

int plugin_main(void)
{
	if (pthread_join(first, NULL))
		return 1;
	printf("%d %d\n", err_of_first, err_of_constructor);
	return 0;
}
