/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* ibv_destroy_cq waits until every event that was read is acknowledged. */

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "rig.h"

#define EVENTS 3

static struct one one;

static void set_up(void)
{
	rig_open();
	rig_one(&one);
}

static void read_events(int count)
{
	for (int i = 0; i < count; i++) {
		rig_arm(one.cq, 0);
		rig_send(one.srq, 0);
		rig_event(one.channel, one.cq);
		rig_arrived(one.cq);
	}
}

static void one_by_one(void)
{
	set_up();
	read_events(EVENTS);
	for (int i = 0; i < EVENTS; i++)
		ibv_ack_cq_events(one.cq, 1);
	rig_end_one(&one);
}

/* As programs do that keep no other pointer to the CQ. */
static void through_the_image(void)
{
	set_up();
	read_events(EVENTS);
	ibv_ack_cq_events(one.srq->xrc_cq, EVENTS);
	rig_end_one(&one);
}

/* ibv_destroy_srq does not wait for events of the CQ. */
static void after_the_srq_has_gone(void)
{
	set_up();
	read_events(1);
	must_eq(ibv_destroy_srq(one.srq), 0);
	ibv_ack_cq_events(one.cq, 1);
	must_eq(ibv_destroy_cq(one.cq), 0);
	must_eq(ibv_destroy_comp_channel(one.channel), 0);
}

static atomic_int acked;

static void *destroy(void *unused)
{
	int ret = ibv_destroy_cq(one.cq);

	(void)unused;
	if (ret)
		row_fail(__FILE__, __LINE__, "ibv_destroy_cq: %d", ret);
	return atomic_load(&acked) ? &acked : NULL;	/* NULL: it came back before the last ack */
}

static void destroy_waits(void)
{
	void *in_order = NULL;
	pthread_t thread;

	set_up();
	read_events(2);
	must_eq(ibv_destroy_srq(one.srq), 0);
	ibv_ack_cq_events(one.cq, 1);
	must_eq(pthread_create(&thread, NULL, destroy, NULL), 0);
	usleep(50000);			/* a wrong return would come within this time */
	atomic_store(&acked, 1);
	ibv_ack_cq_events(one.cq, 1);
	must_eq(pthread_join(thread, &in_order), 0);
	must(in_order);
	must_eq(ibv_destroy_comp_channel(one.channel), 0);
}

static const struct row ack_rows[] = {
	{ "one by one", one_by_one },
	{ "all at once, by the SRQ's xrc_cq", through_the_image },
	{ "after the SRQ has gone", after_the_srq_has_gone },
	{ "ibv_destroy_cq waits for the last one", destroy_waits },
};

GROUP(ack);
