/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The hooked slots of the ops table. Both verbs were inline, so this is where an old program meets us on its data path:
 * a test, two loads, a jump.
 */

#include <compat/ops.h>
#include <compat/pair.h>
#include <compat/srq.h>
#include <compat/xrc_qp.h>

#include "shim.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

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

/* Both halves of a two-way QP fail as one: see xrc_pair_fail(). Flushed ones follow the first that failed. */
static __attribute__((noinline, cold)) void note_failure(const struct ibv_cq *cq, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		xrc_qp_failed(cq->context, wc->qp_num);
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

/* Where nothing in a number tells, only targets of this process are known; another one's keep their own number. */
int shim_poll_cq_noted(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const struct ops_device *device = ops_device(cq->context);
	const atomic_uint *targets = atomic_load_explicit(&device->targets, memory_order_acquire);
	int polled = device->poll_cq(cq, num_entries, wc);

	for (const struct ibv_wc *end = wc + polled; targets && wc < end; wc++) {
		uint32_t qp_num = wc->qp_num;

		if (unlikely(wc->status != IBV_WC_SUCCESS))
			note_failure(cq, wc);
		if (ops_is_target(targets, qp_num))
			wc->qp_num = pair_visible(PAIR_NEXT, qp_num);
	}
	return polled;
}

int shim_hook_poll_cq(struct ibv_context *context, enum pair_rule rule)
{
	return ops_hook_poll_cq(context, rule == PAIR_TAGGED ? shim_poll_cq_tagged : shim_poll_cq_noted);
}
