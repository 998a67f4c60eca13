/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Target QPs of today: XRC_RECV QPs, created, or opened by the kernel's commands. */
#include "tgt_qp.h"
#include "modern.h"
#include "status.h"
#include "table.h"

#include <elf/loader.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the use of a handle ---- */

/* The qp_context of each of our handles points to one of these, that of no other QP. */
static struct mark {
	enum modern_tgt_use use;
	bool opened;	/* false: created */
} marks[] = {
	{ MODERN_TGT_REGISTERED, false }, { MODERN_TGT_PAIRED, false },
	{ MODERN_TGT_REGISTERED, true }, { MODERN_TGT_TRANSIENT, true },
};

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

	return (uintptr_t)mark - (uintptr_t)marks < sizeof(marks) ? mark : NULL;
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

/* By the name of the provider's file: libmlx4-rdmav34.so or libmlx4.so.1. */
static bool is_of_libmlx4(const void *function)
{
	sigset_t before;
	Dl_info info;
	bool found;

	loader_hold_signals(&before);
	found = dladdr(function, &info);
	loader_release_signals(&before);
	return found && info.dli_fname &&
	       !strncmp(basename(info.dli_fname), "libmlx4", strlen("libmlx4"));
}

/* Asks the loader once in a process whose adapters are of one family. */
bool modern_tags_tgt_qps(struct ibv_context *context)
{
	static const void *_Atomic known[2]; /* create_qp_ex with this answer */
	struct verbs_context *verbs = verbs_get_ctx_op(context, create_qp_ex);
	const void *function = verbs ? (const void *)verbs->create_qp_ex : NULL;
	bool tags;

	if (!function || function == atomic_load(&known[false]))
		return false;
	if (function == atomic_load(&known[true]))
		return true;
	tags = is_of_libmlx4(function);
	atomic_store(&known[tags], function);
	return tags;
}
