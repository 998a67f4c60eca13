/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A plugin whose constructor calls a verb while another thread is in the first verb of the process.
 * The constructor holds the loader's lock, which the other thread needs to find libibverbs. So the
 * constructor's verb must not wait for the other thread.
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <infiniband/verbs.h>

__attribute__((visibility("default"))) int plugin_main(void);

static pthread_t first;

static void *call(void *arg)
{
	return ibv_close_xrc_domain(NULL) == EINVAL ? arg : NULL;
}

__attribute__((constructor)) static void begin(void)
{
	alarm(40);
	pthread_create(&first, NULL, call, "");
	usleep(200000);		/* for the thread to be waiting for the loader's lock */
	call(NULL);
}

int plugin_main(void)
{
	void *result;

	if (pthread_join(first, &result) || !result)
		return 1;
	puts("constructed");
	return 0;
}
