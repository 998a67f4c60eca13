/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The hooked slots of the ops table. Both verbs were inline, so this is where an old program meets us on its data path:
 * a test, two loads, a jump.
 */

#include <compat/core/ops.h>
#include <compat/device/own_qp.h>
#include <compat/xrc_qp/pair.h>
#include <compat/srq/srq.h>
#include <compat/xrc_qp/xrc_qp.h>

#include "shim.h"

/* An ordinary SRQ of a device that also has images. Apart, so that the image's way needs no stack frame. */
static __attribute__((noinline)) int post_plain(struct ibv_srq *srq, struct ibv_recv_wr *wr,
						struct ibv_recv_wr **bad_wr)
{
	return ops_provider_post_srq_recv(srq->context)(srq, wr, bad_wr);
}

int shim_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	const struct srq_image *image = (const struct srq_image *)srq;

	if (unlikely(srq->handle != IMAGE_HANDLE))
		return post_plain(srq, wr, bad_wr);
	return image->post_recv(image->srq, wr, bad_wr);
}

/*
 * Both halves of a two-way QP fail as one: see xrc_pair_fail(). Flushed ones follow the first that failed. In there are verbs, in
 * which a thread could be cancelled; ibv_poll_cq never was such a place.
 */
static __attribute__((noinline, cold)) void note_failure(const struct ibv_cq *cq, const struct ibv_wc *wc)
{
	int saved_errno = errno;
	struct cancel_hold hold;

	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	cancel_hold(&hold);
	xrc_qp_failed(cq->context, wc->qp_num);
	cancel_release(&hold);
	errno = saved_errno;
}

/*
 * Receive completions carry the target's number; the application knows the visible one. The tag alone tells a target,
 * also of another process of the domain: MVAPICH 1.x receives in one process what came in at another one's QP.
 */
int shim_poll_cq_tagged(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	int polled = ops_device(cq->context)->poll_cq(cq, num_entries, wc);

	for (const struct ibv_wc *end = wc + polled; wc < end; wc++) {
		uint32_t qp_num = wc->qp_num;

		if (unlikely(wc->status != IBV_WC_SUCCESS))
			note_failure(cq, wc);
		if (qp_num & PAIR_TARGET_TAG)
			wc->qp_num = pair_visible(PAIR_TAGGED, qp_num);
	}
	return polled;
}

static __attribute__((noinline, cold)) void failed_untagged(const struct ibv_cq *cq, const atomic_uint *own,
							      struct ibv_wc *wc)
{
	note_failure(cq, wc);
	if (!ops_is_own(own, wc->qp_num))
		wc->qp_num = pair_visible(PAIR_NEXT, wc->qp_num);
}

/*
 * Where nothing in a number tells, a receive that is not of a QP that this program knows by its own number is of a hidden target,
 * be it of this process or another one. The opcode of a failed request is undefined.
 */
int shim_poll_cq_untagged(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const struct ops_device *device = ops_device(cq->context);
	const atomic_uint *own;
	int polled;

	if (!device)
		__builtin_unreachable();	/* it is hooked */
	own = atomic_load_explicit(&device->own, memory_order_acquire);
	polled = device->poll_cq(cq, num_entries, wc);
	for (const struct ibv_wc *end = wc + polled; wc < end; wc++) {
		if (unlikely(wc->status != IBV_WC_SUCCESS))
			failed_untagged(cq, own, wc);
		else if (wc->opcode & IBV_WC_RECV && !ops_is_own(own, wc->qp_num))
			wc->qp_num = pair_visible(PAIR_NEXT, wc->qp_num);
	}
	return polled;
}

static int hook_untagged(struct ibv_context *context)
{
	int err;

	if (context->ops.poll_cq == shim_poll_cq_untagged)
		return 0;
	err = own_qp_track(context);
	return err ? err : ops_hook_poll_cq(context, shim_poll_cq_untagged);
}

int shim_hook_poll_cq(struct ibv_context *context, enum pair_rule rule)
{
	return rule == PAIR_TAGGED ? ops_hook_poll_cq(context, shim_poll_cq_tagged) : hook_untagged(context);
}
