/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Modify and query of a receive QP. */

#include <errno.h>

#include <modern/modern.h>

#include <compat/qp/attr.h>
#include <compat/qp/mask.h>

#include "rcv_qp.h"
#include "rcv_qp_attr.h"

static int query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_init_attr init_attr = { 0 };

	*attr = (struct ibv_qp_attr){ 0 };
	return modern_query_qp(qp, attr, mask, &init_attr);
}

static int modify_handle(struct ibv_qp *qp, const struct legacy_qp_attr *lattr, int mask)
{
	struct ibv_qp_attr attr = attr_from_legacy(lattr), now;
	int modern_mask;
	int err = query(qp, &now, IBV_QP_STATE | IBV_QP_PORT);

	if (!err)
		err = mask_translate(MASK_TARGET, now.qp_state, &attr, mask, &modern_mask);
	if (err)
		return err;
	attr_fill_ports(&attr, mask, now.port_num);
	return modern_modify_qp(qp, &attr, modern_mask);
}

int rcv_qp_modify(struct legacy_xrc_domain *ldom, uint32_t qp_num, const struct legacy_qp_attr *lattr, int mask)
{
	struct rcv_qp_use use;
	int err = rcv_qp_begin(ldom, qp_num, &use);

	if (err)
		return err;
	err = modify_handle(use.qp, lattr, mask);
	rcv_qp_end(&use);
	return err;
}

/* What the old libmlx4 wrote over the kernel's answer (contract 5.5). */
static void override_query(struct legacy_xrc_domain *ldom, struct legacy_qp_attr *attr,
			   struct legacy_qp_init_attr *init_attr)
{
	*init_attr = (struct legacy_qp_init_attr){
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = LEGACY_QPT_XRC,
		.xrc_domain = ldom,
	};
	attr->cap = init_attr->cap;
}

int rcv_qp_query(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct legacy_qp_attr *lattr, int mask,
		 struct legacy_qp_init_attr *linit_attr)
{
	struct ibv_qp_attr attr;
	struct rcv_qp_use use;
	int err = rcv_qp_begin(ldom, qp_num, &use);

	if (err)
		return err;
	err = query(use.qp, &attr, mask);
	rcv_qp_end(&use);
	if (err)
		return err;
	attr_to_legacy(&attr, lattr);
	override_query(ldom, lattr, linit_attr);
	return 0;
}
