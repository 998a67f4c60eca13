/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Target QPs of today: XRC_RECV QPs, created, or opened by the kernel's commands. */
#include "tgt_qp.h"
#include "modern.h"
#include "status.h"
#include "table.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* ---- the use of a handle ---- */

/* The qp_context of each of our handles points to one of these. No program has their addresses. */
static struct mark {
	enum modern_tgt_use use;
	bool opened;	/* false: created */
} marks[] = {
	{ MODERN_TGT_REGISTERED, false }, { MODERN_TGT_PAIRED, false },
	{ MODERN_TGT_REGISTERED, true }, { MODERN_TGT_TRANSIENT, true },
};

#define MARKS (sizeof(marks) / sizeof(marks[0]))

static struct mark *mark_for(enum modern_tgt_use use, bool opened)
{
	struct mark *mark = marks;

	while (mark->use != use || mark->opened != opened)
		mark++;
	return mark;
}

/* gcc may inline it into its callers, so they have the attribute too. */
static ORDERED_BY_KERNEL const struct mark *mark_of(const struct ibv_qp *qp)
{
	const struct mark *mark = qp->qp_context;

	return mark >= marks && mark < marks + MARKS ? mark : NULL;
}

ORDERED_BY_KERNEL enum modern_tgt_use modern_tgt_use_of(const struct ibv_qp *qp, uint32_t *qp_num)
{
	const struct mark *mark = mark_of(qp);

	*qp_num = qp->qp_num;
	return mark ? mark->use : MODERN_TGT_NONE;
}

ORDERED_BY_KERNEL bool tgt_qp_is_opened(const struct ibv_qp *qp)
{
	const struct mark *mark = mark_of(qp);

	return mark && mark->opened;
}

/* ---- opened handles ---- */

struct opened_qp {
	struct ibv_qp qp;
	atomic_bool open;
};

ORDERED_BY_KERNEL void opened_qp_await_open(const struct ibv_qp *qp)
{
	const struct opened_qp *opened = (const struct opened_qp *)qp;
	const struct timespec pause = { .tv_nsec = 10000 };

	/* Sleep: a SCHED_FIFO thread that yields could keep the processor from the opener. */
	while (!atomic_load_explicit(&opened->open, memory_order_acquire))
		nanosleep(&pause, NULL);
}

int opened_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int ret = modern_table.uverbs_modify_qp(qp, attr, mask);

	if (!ret && mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return ret;
}

int opened_qp_destroy(struct ibv_qp *qp)
{
	int ret = modern_table.uverbs_destroy_qp(qp);

	if (!ret)
		free(qp);
	return ret;
}

/* ---- any target QP ---- */

int modern_create_tgt_qp(struct ibv_context *context, struct ibv_xrcd *xrcd,
			 enum modern_tgt_use use, struct ibv_qp **qp)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = mark_for(use, false),
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};
	struct ibv_qp *created;

	errno = 0;
	created = modern_table.create_qp_ex(context, &attr);
	if (!created)
		return modern_null_status();
	*qp = created;
	return 0;
}

int modern_open_tgt_qp(struct ibv_xrcd *xrcd, uint32_t qp_num, enum modern_tgt_use use,
		       struct ibv_qp **qp)
{
	struct opened_qp *opened = calloc(1, sizeof(*opened));
	int err;

	if (!opened)
		return -ENOMEM;
	/* An event may come before the command returns. */
	opened->qp.context = xrcd->context;
	opened->qp.qp_context = mark_for(use, true);
	opened->qp.qp_num = qp_num;
	opened->qp.qp_type = IBV_QPT_XRC_RECV;
	err = modern_table.uverbs_open_qp(xrcd, &opened->qp);
	if (err) {
		free(opened);
		/* Kernels before 5.0 answer ENOSYS to a command that the device does not have. */
		return err == ENOSYS ? -EOPNOTSUPP : -err;
	}
	atomic_store_explicit(&opened->open, true, memory_order_release);
	*qp = &opened->qp;
	return 0;
}
