/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Modify and query of a receive QP. */

#include <errno.h>

#include <modern/modern.h>

#include <compat/domain/keeper.h>
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

static int query_handle(struct ibv_qp *qp, struct legacy_qp_attr *lattr, int mask)
{
	struct ibv_qp_attr attr;
	int err = query(qp, &attr, mask);

	if (!err)
		attr_to_legacy(&attr, lattr);
	return err;
}

int rcv_qp_perform(struct ibv_qp *qp, struct rcv_qp_request *request)
{
	if (request->verb == RCV_QP_MODIFY)
		return modify_handle(qp, &request->attr, request->mask);
	return query_handle(qp, &request->attr, request->mask);
}

/* On the handle, where there is one; else by the owner of the QP. */
static int perform(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct rcv_qp_request *request)
{
	struct rcv_qp_use use;
	int err = rcv_qp_begin(ldom, qp_num, &use);

	if (err)
		return err;
	err = use.qp ? rcv_qp_perform(use.qp, request) : keeper_ask(use.core, qp_num, request);
	rcv_qp_end(&use);
	return err;
}

int rcv_qp_modify(struct legacy_xrc_domain *ldom, uint32_t qp_num, const struct legacy_qp_attr *lattr, int mask)
{
	struct rcv_qp_request request = { .verb = RCV_QP_MODIFY, .mask = mask, .attr = *lattr };

	return perform(ldom, qp_num, &request);
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
	struct rcv_qp_request request = { .verb = RCV_QP_QUERY, .mask = mask };
	int err = perform(ldom, qp_num, &request);

	if (err)
		return err;
	override_query(ldom, &request.attr, linit_attr);
	*lattr = request.attr;
	return 0;
}
