/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ibv_destroy_comp_channel is EBUSY as long as a CQ is on the channel, which goes on working then.
 */

#include "rig.h"

#define CQS 3

/*
 * How many CQs are on the channel, and how many of them are the XRC CQ of an SRQ, from the first
 * on.
 */
struct attached {
	int cqs, srqs;
};

static void busy_until_the_last_cq_is_gone(const struct attached *attached)
{
	struct ibv_comp_channel *channel = rig_channel();
	struct ibv_srq *srqs[CQS];
	struct ibv_cq *cqs[CQS];

	for (int i = 0; i < attached->cqs; i++)
		cqs[i] = rig_cq(channel, &cqs[i]);
	for (int i = 0; i < attached->srqs; i++)
		srqs[i] = rig_srq(cqs[i]);
	for (int i = 0; i < attached->cqs; i++) {
		must_eq(ibv_destroy_comp_channel(channel), EBUSY);
		if (i < attached->srqs) {
			must_eq(ibv_destroy_cq(cqs[i]), EBUSY);
			must_eq(ibv_destroy_srq(srqs[i]), 0);
		}
		must_eq(ibv_destroy_comp_channel(channel), EBUSY);
		must_eq(ibv_destroy_cq(cqs[i]), 0);
	}
	must_eq(ibv_destroy_comp_channel(channel), 0);
}

static void every_number(void)
{
	static const struct attached table[] = {
		{ 0, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 }, { 2, 1 }, { 2, 2 }, { CQS, 0 }, { CQS, 2 },
		{ CQS, CQS },
	};

	rig_open();
	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		busy_until_the_last_cq_is_gone(&table[i]);
}

static void two_srqs_of_one_cq(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_srq *first, *second;
	struct ibv_cq *cq;

	rig_open();
	channel = rig_channel();
	cq = rig_cq(channel, NULL);
	first = rig_srq(cq);
	second = rig_srq(cq);
	must_eq(ibv_destroy_srq(first), 0);
	must_eq(ibv_destroy_cq(cq), EBUSY);
	must_eq(ibv_destroy_srq(second), 0);
	must_eq(ibv_destroy_cq(cq), 0);
	must_eq(ibv_destroy_comp_channel(channel), 0);
}

static void refused_cq_is_not_on_it(void)
{
	struct ibv_comp_channel *channel;

	rig_open();
	channel = rig_channel();
	must(!ibv_create_cq(rig.receiver, 1 << 30, NULL, channel, 0));
	must(!ibv_create_cq(rig.receiver, 0, NULL, channel, 0));
	must_eq(ibv_destroy_comp_channel(channel), 0);
}

static void other_cqs_do_not_count(void)
{
	struct ibv_comp_channel *channel, *other;
	struct ibv_cq *without, *with_other;

	rig_open();
	channel = rig_channel();
	other = rig_channel();
	without = rig_cq(NULL, NULL);
	with_other = rig_cq(other, NULL);
	must(rig_srq(without) && rig_srq(with_other));
	must_eq(ibv_destroy_comp_channel(channel), 0);
	must_eq(ibv_destroy_comp_channel(other), EBUSY);
}

static void refused_end_changes_nothing(void)
{
	struct one one;

	rig_open();
	rig_one(&one);
	rig_arm(one.cq, 0);
	must_eq(ibv_destroy_comp_channel(one.channel), EBUSY);
	must_eq(ibv_destroy_cq(one.cq), EBUSY);
	rig_send(one.srq, 0);
	rig_event(one.channel, one.cq);
	ibv_ack_cq_events(one.cq, 1);
	rig_end_one(&one);
}

/* Only what was read has to be acknowledged. */
static void unread_event_holds_nothing_up(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_srq *srq;
	struct ibv_cq *cq, *stays;

	rig_open();
	channel = rig_channel();
	cq = rig_cq(channel, &cq);
	stays = rig_cq(channel, &stays);
	srq = rig_srq(cq);
	rig_arm(cq, 0);
	rig_send(srq, 0);
	must(rig_readable(channel, PATIENCE_MS));
	must_eq(ibv_destroy_srq(srq), 0);
	must_eq(ibv_destroy_cq(cq), 0);
	/* dropped with its CQ; otherwise the program would get a pointer to freed memory */
	rig_no_event(channel);
	must_eq(ibv_destroy_cq(stays), 0);
	must_eq(ibv_destroy_comp_channel(channel), 0);
}

static const struct row destroy_rows[] = {
	{ "busy until the last CQ is gone, the CQ until its SRQ is", every_number },
	{ "two SRQs may have one CQ, which stays until both are gone", two_srqs_of_one_cq },
	{ "a CQ that could not be made is not on the channel", refused_cq_is_not_on_it },
	{ "CQs without a channel or on another do not count", other_cqs_do_not_count },
	{ "after EBUSY everything works on", refused_end_changes_nothing },
	{ "an unread event is dropped with its CQ", unread_event_holds_nothing_up },
};

GROUP(destroy);
