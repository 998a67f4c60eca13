/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive QPs that this process keeps for others, on devices whose kernel does not share them. */

#include <errno.h>
#include <stdlib.h>

#include "rcv_qp_internal.h"

/* Before the table is asked: once it says "not the last", the last may go, and ask for this QP, at any moment. */
static int carry(struct core *core, struct rcv_qp *rcv_qp)
{
	struct rcv_qp *carried = malloc(sizeof(*carried));
	int err = -ENOMEM;

	if (!carried)
		return err;
	*carried = *rcv_qp;
	state_lock();
	err = handle_add(&core->carried, rcv_qp_key(carried->qp_num), carried);
	if (!err) {
		core->carried_count++;
		carried->domain->carried++;
	}
	state_unlock();
	if (err)
		free(carried);
	return err;
}

/* Whoever takes a carried QP out ends it. NULL: someone did already. */
static struct rcv_qp *take_carried(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *carried;

	state_lock();
	carried = handle_find(&core->carried, rcv_qp_key(qp_num));
	if (carried) {
		handle_remove(&core->carried, rcv_qp_key(qp_num), carried);
		while (carried->users)
			state_wait();
	}
	state_unlock();
	return carried;
}

static void end_carried(struct core *core, struct rcv_qp *carried)
{
	state_lock();
	core->carried_count--;
	carried->domain->carried--;
	state_unlock();
	free(carried);
}

void rcv_qp_retired(void *argument, uint32_t qp_num)
{
	struct core *core = argument;
	struct rcv_qp *carried = take_carried(core, qp_num);

	if (!carried)
		return;
	modern_destroy_qp(carried->qp);
	end_carried(core, carried);
}

int rcv_qp_unregister_owned(struct core *core, struct rcv_qp *rcv_qp)
{
	bool last = false;
	int err = carry(core, rcv_qp);

	if (err)
		return err;
	err = regtab_unregister(core->roster.member, rcv_qp->qp_num, &last);
	if (!err && last)
		rcv_qp_retired(core, rcv_qp->qp_num);
	else if (err)
		end_carried(core, take_carried(core, rcv_qp->qp_num));
	return err;
}
