/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The hooks in the ops table. ibv_post_srq_recv and ibv_poll_cq were inline in the old header, so
 * an old program calls the slots itself. This is its data path: to post to an image costs a test,
 * two loads and a jump.
 */
#include <compat/ops.h>
#include <compat/srq.h>
#include <compat/xrc_qp.h>
#include <two_way/pair.h>

#include "shim.h"

/*
 * Serves an ordinary SRQ of a device that also has images. It is not inlined, so that
 * shim_post_srq_recv() needs no stack frame.
 */
static __attribute__((noinline)) int post_plain(struct ibv_srq *srq, struct ibv_recv_wr *wr,
						struct ibv_recv_wr **bad_wr)
{
	return ops_provider_post_srq_recv(srq->context)(srq, wr, bad_wr);
}

int shim_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	const struct srq_image *image = (const struct srq_image *)srq;

	if (unlikely(srq->handle != SRQ_IMAGE_HANDLE))
		return post_plain(srq, wr, bad_wr);
	return image->post_recv(image->srq, wr, bad_wr);
}

/*
 * If one half of a two-way QP fails, the other one has to fail: see pair_fail(). Flush errors only
 * follow the first failure. pair_fail() calls verbs that are cancellation points. ibv_poll_cq never
 * was one, so cancellation is disabled.
 */
static __attribute__((noinline, cold)) void note_failure(const struct ibv_cq *cq,
							 const struct ibv_wc *wc)
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

/* Only hooks call it. The load acquires the entry and its numbers, stored before the hook. */
static inline const struct ops_device *hooked_device(const struct ibv_cq *cq)
{
	const struct ops_device *device;

	(void)__atomic_load_n(&cq->context->ops.poll_cq, __ATOMIC_ACQUIRE);
	device = ops_find(cq->context);
	if (!device)
		__builtin_unreachable();
	return device;
}

/*
 * A completion carries the target's number; replace it by the number that the program knows. The
 * tag marks targets of all processes: MVAPICH 1.x receives in one process what came through the QP
 * of another. A receive QP is a target, too, but the program knows it by its own number.
 */
int shim_poll_cq_tagged(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const struct ops_device *device = hooked_device(cq);
	const struct qp_numbers *numbers = device->numbers;
	int polled = device->poll_cq(cq, num_entries, wc);

	for (const struct ibv_wc *end = wc + polled; wc < end; wc++) {
		uint32_t qp_num = wc->qp_num;

		if (unlikely(wc->status != IBV_WC_SUCCESS))
			note_failure(cq, wc);
		if (qp_num & PAIR_TARGET_TAG && !unlikely(qp_is_known(numbers, qp_num)))
			wc->qp_num = pair_visible(PAIR_TAGGED, qp_num);
	}
	return polled;
}

static __attribute__((noinline, cold)) void
failed_untagged(const struct ibv_cq *cq, const struct qp_numbers *numbers, struct ibv_wc *wc)
{
	note_failure(cq, wc);
	if (!qp_is_known(numbers, wc->qp_num))
		wc->qp_num = pair_visible(PAIR_NEXT, wc->qp_num);
}

/*
 * For devices whose numbers have no tag. The program knows the numbers of its own QPs. A receive
 * completion with any other number is of a hidden target, of this process or another. The opcode of
 * a failed completion is undefined.
 */
int shim_poll_cq_untagged(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const struct ops_device *device = hooked_device(cq);
	const struct qp_numbers *numbers = device->numbers;
	int polled = device->poll_cq(cq, num_entries, wc);

	for (const struct ibv_wc *end = wc + polled; wc < end; wc++) {
		if (unlikely(wc->status != IBV_WC_SUCCESS))
			failed_untagged(cq, numbers, wc);
		else if (wc->opcode & IBV_WC_RECV && !unlikely(qp_is_known(numbers, wc->qp_num)))
			wc->qp_num = pair_visible(PAIR_NEXT, wc->qp_num);
	}
	return polled;
}

int shim_hook_poll_cq(struct ibv_context *context)
{
	return ops_hook_poll_cq(context, pair_rule_of(context) == PAIR_TAGGED
						 ? shim_poll_cq_tagged
						 : shim_poll_cq_untagged);
}
