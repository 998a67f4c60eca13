/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A kernel handle on a receive QP for one verb. */

#include <errno.h>

#include "rcv_qp.h"
#include "rcv_qp_internal.h"

/* Lock held. */
static void hold_registered(struct rcv_qp_use *use, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp = rcv_qp_find_settled(use->domain->core, qp_num);

	if (!rcv_qp)
		return;
	use->held = rcv_qp;
	use->qp = rcv_qp->qp;
	rcv_qp->users++;
}

int rcv_qp_begin(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct rcv_qp_use *use)
{
	int err;

	*use = (struct rcv_qp_use){ 0 };
	state_lock();
	use->domain = domain_enter(ldom, NULL);
	if (use->domain)
		hold_registered(use, qp_num);
	state_unlock();
	if (!use->domain)
		return -EINVAL;
	if (use->held)
		return 0;
	err = rcv_qp_open_handle(use->domain, qp_num, MODERN_TGT_TRANSIENT, &use->qp);
	if (err)
		domain_release(use->domain);
	return err;
}

void rcv_qp_end(struct rcv_qp_use *use)
{
	if (!use->held)
		modern_destroy_qp(use->qp);
	state_lock();
	if (use->held) {
		use->held->users--;
		state_changed();
	}
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
