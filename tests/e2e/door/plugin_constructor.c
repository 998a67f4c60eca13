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

/* Without a libibverbs: how many of the verbs that are passed on to it fail with ENOSYS. */
static int count_refusals(void)
{
	struct ibv_qp_init_attr plain = { .qp_type = IBV_QPT_RC };
	struct ibv_async_event event;
	int refused =
		(ibv_modify_srq(NULL, NULL, 0) == ENOSYS) + (ibv_query_srq(NULL, NULL) == ENOSYS) +
		(ibv_destroy_srq(NULL) == ENOSYS) + (ibv_modify_qp(NULL, NULL, 0) == ENOSYS) +
		(ibv_query_qp(NULL, NULL, 0, NULL) == ENOSYS) + (ibv_destroy_qp(NULL) == ENOSYS);

	errno = 0;
	refused += !ibv_create_qp(NULL, &plain) && errno == ENOSYS;
	errno = 0;
	return refused + (ibv_get_async_event(NULL, &event) == -1 && errno == ENOSYS);
}

int plugin_main(void)
{
	if (pthread_join(first, NULL))
		return 1;
	printf("%d %d\n", err_of_first, err_of_constructor);
	if (err_of_first == ENOSYS)
		printf("%d refused\n", count_refusals());
	return 0;
}
