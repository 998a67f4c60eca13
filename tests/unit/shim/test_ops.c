/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The hooked slots: an image is unwrapped, everything else reaches the provider as it came. */

#include <errno.h>
#include <string.h>

#include <compat/core/ops.h>
#include <compat/device/own_qp.h>
#include <compat/srq/srq.h>
#include <compat/core/state.h>
#include <shim/shim.h>

#include "../unit.h"

static struct ibv_srq *posted_to;
static struct ibv_wc polled[3];

static int provider_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	*bad_wr = wr;
	posted_to = srq;
	return ENOMEM;
}

static int other_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)bad_wr;
	(void)wr;
	posted_to = srq;
	return 0;
}

static int provider_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq;
	assert_int_equal(num_entries, 3);
	memcpy(wc, polled, sizeof(polled));
	return 3;
}

static struct ibv_context new_device(void)
{
	return (struct ibv_context){
		.ops = { .post_srq_recv = provider_post_srq_recv, .poll_cq = provider_poll_cq },
	};
}

static void forget(struct ibv_context *context)
{
	state_lock();
	ops_forget_context(context);
	state_unlock();
}

TEST(an_image_is_unwrapped_and_a_plain_srq_is_not)
{
	struct ibv_context context = new_device();
	struct ibv_srq real = { .context = &context, .handle = 7 };
	struct srq_image image = { .srq = &real };
	struct ibv_recv_wr wr, *bad_wr = NULL;

	image.ofed.context = &context;
	image.ofed.handle = IMAGE_HANDLE;
	image.post_recv = ops_provider_post_srq_recv(&context);
	assert_int_equal(ops_hook_post_srq_recv(&context, shim_post_srq_recv), 0);

	assert_int_equal(ibv_post_srq_recv((struct ibv_srq *)&image, &wr, &bad_wr), ENOMEM);
	assert_ptr_equal(posted_to, &real);
	assert_ptr_equal(bad_wr, &wr);
	posted_to = NULL;
	assert_int_equal(ibv_post_srq_recv(&real, &wr, &bad_wr), ENOMEM);
	assert_ptr_equal(posted_to, &real);
	forget(&context);
}

/* After a hooked device is closed, another provider's device may get its memory. */
TEST(a_closed_device_leaves_nothing_behind)
{
	struct ibv_context context = new_device();
	struct ibv_srq plain = { .context = &context };
	struct ibv_recv_wr wr, *bad_wr;

	assert_int_equal(ops_hook_post_srq_recv(&context, shim_post_srq_recv), 0);
	forget(&context);
	context = new_device();
	context.ops.post_srq_recv = other_post_srq_recv;
	assert_ptr_equal(ops_provider_post_srq_recv(&context), other_post_srq_recv);
	assert_int_equal(ops_hook_post_srq_recv(&context, shim_post_srq_recv), 0);
	assert_int_equal(ibv_post_srq_recv(&plain, &wr, &bad_wr), 0);
	forget(&context);
}

TEST(every_other_slot_stays_the_providers)
{
	struct ibv_context context = new_device(), before = context;

	assert_int_equal(ops_hook_post_srq_recv(&context, shim_post_srq_recv), 0);
	context.ops.post_srq_recv = before.ops.post_srq_recv;
	assert_memory_equal(&context.ops, &before.ops, sizeof(before.ops));
	forget(&context);
}

static void note_own(struct ibv_context *context, uint32_t qp_num, bool own)
{
	state_lock();
	ops_note_own(context, qp_num, own);
	state_unlock();
}

TEST(completions_of_a_tagged_target_carry_the_visible_number)
{
	struct ibv_context context = new_device();
	struct ibv_cq cq = { .context = &context };
	struct ibv_wc wc[3];

	memset(polled, 0, sizeof(polled));
	polled[0].qp_num = 0x800049;
	polled[0].opcode = IBV_WC_RECV;
	polled[1].qp_num = 0x48;
	polled[2].qp_num = 0x50;
	polled[2].opcode = IBV_WC_RECV;
	assert_int_equal(shim_hook_poll_cq(&context, PAIR_TAGGED), 0);
	assert_int_equal(ibv_poll_cq(&cq, 3, wc), 3);
	assert_int_equal(wc[0].qp_num, 0x48);
	assert_int_equal(wc[1].qp_num, 0x48);
	assert_int_equal(wc[2].qp_num, 0x50);
	/* A receive QP, which the program knows by this number. */
	note_own(&context, 0x800049, true);
	assert_int_equal(ibv_poll_cq(&cq, 3, wc), 3);
	assert_int_equal(wc[0].qp_num, 0x800049);
	forget(&context);
}

/* Own QPs are those of this process, without hidden targets. A hidden target may be another process's, with a number unknown here. */
TEST(untagged_receives_that_are_no_own_qps_carry_the_visible_number)
{
	static const struct ibv_wc came[3] = {
		{ .qp_num = 0x1a3, .opcode = IBV_WC_RECV },
		{ .qp_num = 0x1a5, .opcode = IBV_WC_RECV_RDMA_WITH_IMM },
		{ .qp_num = 0x1b0, .opcode = IBV_WC_SEND },
	};
	struct ibv_context context = new_device();
	struct ibv_cq cq = { .context = &context };
	struct ibv_wc wc[3];

	memcpy(polled, came, sizeof(polled));
	assert_int_equal(shim_hook_poll_cq(&context, PAIR_NEXT), 0);
	note_own(&context, 0x1a5, true);
	assert_int_equal(ibv_poll_cq(&cq, 3, wc), 3);
	assert_int_equal(wc[0].qp_num, 0x1a2);
	assert_int_equal(wc[1].qp_num, 0x1a5);
	assert_int_equal(wc[2].qp_num, 0x1b0);
	note_own(&context, 0x1a5, false);
	assert_int_equal(ibv_poll_cq(&cq, 3, wc), 3);
	assert_int_equal(wc[1].qp_num, 0x1a4);
	forget(&context);
}

/* The opcode of what failed is undefined: the number alone decides. */
TEST(untagged_failures_are_told_by_number)
{
	struct ibv_context context = new_device();
	struct ibv_cq cq = { .context = &context };
	struct ibv_wc wc[3];

	memset(polled, 0, sizeof(polled));
	for (int i = 0; i < 3; i++)
		polled[i].status = IBV_WC_WR_FLUSH_ERR;
	polled[0].qp_num = 0x1a3;
	polled[1].qp_num = 0x1a2;
	polled[2].qp_num = 0xffffff;
	assert_int_equal(shim_hook_poll_cq(&context, PAIR_NEXT), 0);
	note_own(&context, 0x1a2, true);
	assert_int_equal(ibv_poll_cq(&cq, 3, wc), 3);
	assert_int_equal(wc[0].qp_num, 0x1a2);
	assert_int_equal(wc[1].qp_num, 0x1a2);
	assert_int_equal(wc[2].qp_num, 0xfffffe);
	forget(&context);
}

/* A QP that was made before its device needed to know is known all the same, and forgotten when it ends. */
TEST(own_qps_are_known_from_the_beginning)
{
	struct ibv_context context = new_device();
	struct ibv_qp qp = { .context = &context, .qp_num = 0x77 };
	const atomic_bool *own;

	own_qp_created(&qp);
	assert_int_equal(own_qp_track(&context), 0);
	own = atomic_load(&ops_device(&context)->own);
	assert_true(ops_is_own(own, 0x77));
	own_qp_ended(own_qp_ending(&qp), NULL);
	assert_false(ops_is_own(own, 0x77));
	forget(&context);
}

/* Another thread may poll the completions of a QP that is being destroyed; and its number may be used again at once. */
TEST(a_number_is_an_own_one_until_its_qp_has_ended)
{
	struct ibv_context context = new_device();
	struct ibv_qp qp = { .context = &context, .qp_num = 0x77 }, newer = qp;
	const atomic_bool *own;
	struct ops_own *ending;

	assert_int_equal(own_qp_track(&context), 0);
	own = atomic_load(&ops_device(&context)->own);
	own_qp_created(&qp);
	ending = own_qp_ending(&qp);
	assert_true(ops_is_own(own, 0x77));
	own_qp_ended(ending, &qp);	/* refused */
	assert_true(ops_is_own(own, 0x77));
	ending = own_qp_ending(&qp);
	own_qp_created(&newer);
	own_qp_ended(ending, NULL);
	assert_true(ops_is_own(own, 0x77));
	own_qp_ended(own_qp_ending(&newer), NULL);
	assert_false(ops_is_own(own, 0x77));
	forget(&context);
}

UNIT_MAIN(NULL, NULL,
	UNIT(an_image_is_unwrapped_and_a_plain_srq_is_not), UNIT(a_closed_device_leaves_nothing_behind),
	UNIT(every_other_slot_stays_the_providers), UNIT(completions_of_a_tagged_target_carry_the_visible_number),
	UNIT(untagged_receives_that_are_no_own_qps_carry_the_visible_number),
	UNIT(untagged_failures_are_told_by_number), UNIT(own_qps_are_known_from_the_beginning),
	UNIT(a_number_is_an_own_one_until_its_qp_has_ended))
