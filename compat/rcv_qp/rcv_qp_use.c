/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A kernel handle on a receive QP for one verb. */

#include <errno.h>

#include <compat/core/leftover.h>
#include <compat/domain/keeper.h>

#include "rcv_qp.h"
#include "rcv_qp_internal.h"

static void hold(struct rcv_qp_use *use, struct rcv_qp *rcv_qp)
{
	use->held = rcv_qp;
	use->qp = rcv_qp->qp;
	rcv_qp->users++;
}

/* Registered here, or kept here for others. Lock held. */
static void hold_own(struct core *core, uint32_t qp_num, struct rcv_qp_use *use)
{
	struct rcv_qp *rcv_qp = rcv_qp_find_settled(core, qp_num);

	if (!rcv_qp || !rcv_qp->qp)
		rcv_qp = keeper_find(core, qp_num);
	if (rcv_qp)
		hold(use, rcv_qp);
}

int rcv_qp_begin(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct rcv_qp_use *use)
{
	int err = 0;

	*use = (struct rcv_qp_use){ 0 };
	state_lock();
	use->domain = domain_enter(ldom, NULL);
	if (use->domain) {
		use->core = use->domain->core;
		hold_own(use->core, qp_num, use);
	}
	state_unlock();
	if (!use->domain)
		return -EINVAL;
	if (use->held)
		return 0;
	if (core_sharing(use->core) != SHARED_BY_OWNER)
		err = modern_open_tgt_qp(use->domain->legacy.context, use->domain->xrcd, qp_num, MODERN_TGT_TRANSIENT,
					 &use->qp);
	if (err && err != -EOPNOTSUPP) {
		rcv_qp_end(use);
		return err;
	}
	return 0;
}

int rcv_qp_begin_owned(struct core *core, uint32_t qp_num, struct rcv_qp_use *use)
{
	*use = (struct rcv_qp_use){ .core = core };
	state_lock();
	hold_own(core, qp_num, use);
	state_unlock();
	return use->held ? 0 : -EINVAL;
}

void rcv_qp_end(struct rcv_qp_use *use)
{
	if (!use->held && use->qp)
		leftover_destroy_qp(use->qp);
	state_lock();
	if (use->held) {
		use->held->users--;
		state_changed();
	}
	if (use->domain)
		domain_leave(use->domain);
	state_unlock();
}

struct ibv_qp *rcv_qp_handle(const struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct ibv_qp *qp = NULL;
	struct rcv_qp *rcv_qp;
	struct domain *domain;

	state_lock();
	domain = domain_enter(ldom, NULL);
	if (domain) {
		rcv_qp = rcv_qp_find_settled(domain->core, qp_num);
		qp = rcv_qp ? rcv_qp->qp : NULL;
		domain_leave(domain);
	}
	state_unlock();
	return qp;
}
