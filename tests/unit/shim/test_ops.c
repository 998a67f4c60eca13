/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The hooked slots: they unwrap an image, and pass everything else to the provider unchanged. */

#include <errno.h>
#include <string.h>

#include <base/settings.h>
#include <base/state.h>
#include <compat/ops.h>
#include <compat/srq.h>
#include <shim/shim.h>

#include <harness/unit.h>

/* In an array of old work requests, the provider must not read the next one. */
_Static_assert(offsetof(struct ibv_send_wr, qp_type) +
			       sizeof(((struct ibv_send_wr *)0)->qp_type) <=
		       sizeof(struct legacy_send_wr),
	       "the XRC fields lie inside an old work request");
_Static_assert(offsetof(struct ibv_send_wr, bind_mw) >= sizeof(struct legacy_send_wr),
	       "bind_mw lies behind an old work request");

static struct ibv_wc polled[3];

static int provider_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
				  struct ibv_recv_wr **bad_wr)
{
	(void)bad_wr;
	(void)srq;
	(void)wr;
	return ENOMEM;
}

static int other_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr)
{
	(void)bad_wr;
	(void)srq;
	(void)wr;
	return 0;
}

static int provider_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq;
	assert_int_equal(num_entries, 3);
	memcpy(wc, polled, sizeof(polled));
	return 3;
}

static struct ibv_context new_context(void)
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

/* After a hooked device is closed, the context of another provider's device may get its address. */
TEST(a_device_at_a_reused_address_gets_its_own_providers_function)
{
	struct ibv_context context = new_context();
	struct ibv_srq plain = { .context = &context };
	struct ibv_recv_wr wr, *bad_wr;

	assert_int_equal(ops_hook_post_srq_recv(&context, shim_post_srq_recv), 0);
	forget(&context);
	context = new_context();
	context.ops.post_srq_recv = other_post_srq_recv;
	assert_ptr_equal(ops_provider_post_srq_recv(&context), other_post_srq_recv);
	assert_int_equal(ops_hook_post_srq_recv(&context, shim_post_srq_recv), 0);
	assert_int_equal(ibv_post_srq_recv(&plain, &wr, &bad_wr), 0);
	forget(&context);
}

/*
 * A failed completion has no valid opcode. If the numbers of targets have no tag (PAIR_NEXT), an
 * unknown number n belongs to a hidden target. The program sees n - 1, the initiator's.
 */
TEST(a_failed_completion_of_a_hidden_target_gets_the_visible_number)
{
	struct ibv_context context = new_context();
	struct ibv_cq cq = { .context = &context };
	struct ibv_wc wc[3];

	memset(polled, 0, sizeof(polled));
	for (int i = 0; i < 3; i++)
		polled[i].status = IBV_WC_WR_FLUSH_ERR;
	polled[0].qp_num = 0x1a3;
	polled[1].qp_num = 0x1a2;
	polled[2].qp_num = 0xffffff;
	assert_int_equal(shim_hook_poll_cq(&context), 0);
	qp_number_add(&context, 0x1a2);
	assert_int_equal(ibv_poll_cq(&cq, 3, wc), 3);
	assert_int_equal(wc[0].qp_num, 0x1a2);
	assert_int_equal(wc[1].qp_num, 0x1a2);
	assert_int_equal(wc[2].qp_num, 0xfffffe);
	qp_number_remove(&context, 0x1a2);
	forget(&context);
}

static int poll_on_top(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	(void)cq, (void)count, (void)wc;
	return 0;
}

TEST(a_function_that_another_library_puts_on_the_hook_stays)
{
	struct ibv_context context = new_context();

	assert_int_equal(shim_hook_poll_cq(&context), 0);
	assert_int_equal(ops_hook_post_srq_recv(&context, shim_post_srq_recv), 0);
	context.ops.poll_cq = poll_on_top;
	context.ops.post_srq_recv = other_post_srq_recv;
	assert_int_equal(shim_hook_poll_cq(&context), 0);
	assert_int_equal(ops_hook_post_srq_recv(&context, shim_post_srq_recv), 0);
	assert_ptr_equal(context.ops.poll_cq, poll_on_top);
	assert_ptr_equal(context.ops.post_srq_recv, other_post_srq_recv);
	forget(&context);
}

FIXTURE(setup)
{
	settings.two_way = TWO_WAY_ON;	/* only then numbers are counted */
	return 0;
}

UNIT_MAIN(setup, NULL)
