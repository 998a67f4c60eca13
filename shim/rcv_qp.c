/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: ibv_{create,modify,query,reg,unreg}_xrc_rcv_qp. */
#include <compat/rcv_qp.h>

#include "shim.h"

/*
 * Legacy: a receive QP of the kernel, known by number; the creator is registered. Only xrc_domain
 * of init_attr is read: GASNet leaves the rest uninitialised.
 * Modern: ibv_create_qp_ex(IBV_QPT_XRC_RECV).
 * Difference: a stale domain is EINVAL; the old library followed it.
 */
int ibv_create_xrc_rcv_qp(struct legacy_qp_init_attr *init_attr, uint32_t *qp_num)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_create_xrc_rcv_qp, ARGUMENTS(init_attr, qp_num));

	if (!err && (!init_attr || !qp_num))
		err = -EINVAL;
	if (!err)
		err = rcv_qp_create(init_attr->xrc_domain, qp_num);
	return shim_leave(&entry, err);
}
SHIM_EXPORT(ibv_create_xrc_rcv_qp);

/*
 * Legacy: every process that has the domain open may modify, registered or not; full RC masks.
 * Modern: ibv_modify_qp on the QP of its creator; on a handle opened for a registration or for this
 * call, the kernel's MODIFY_QP (modern/kernel.h).
 * Difference: RTS to SQD is EINVAL on mlx5, whose driver lacks it.
 */
int ibv_modify_xrc_rcv_qp(struct legacy_xrc_domain *ldom, uint32_t qp_num,
			  struct legacy_qp_attr *attr, int mask)
{
	struct entry entry;
	int err =
		shim_enter(&entry, VERB_ibv_modify_xrc_rcv_qp, ARGUMENTS(ldom, qp_num, attr, mask));

	if (!err && !attr)
		err = -EINVAL;
	if (!err)
		err = rcv_qp_modify(ldom, qp_num, attr, mask);
	return shim_leave(&entry, err);
}
SHIM_EXPORT(ibv_modify_xrc_rcv_qp);

/*
 * Legacy: everything the driver knows, the mask is ignored; init_attr has type 5, capacities 1/1
 * and 0/0, and the domain.
 * Modern: ibv_query_qp or the kernel's QUERY_QP, on the same handle as modify.
 * Difference: NULL attr or init_attr is EINVAL; the old library crashed.
 */
int ibv_query_xrc_rcv_qp(struct legacy_xrc_domain *ldom, uint32_t qp_num,
			 struct legacy_qp_attr *attr, int mask,
			 struct legacy_qp_init_attr *init_attr)
{
	struct entry entry;
	int err =
		shim_enter(&entry, VERB_ibv_query_xrc_rcv_qp, ARGUMENTS(ldom, qp_num, attr, mask));

	if (!err && (!attr || !init_attr))
		err = -EINVAL;
	if (!err)
		err = rcv_qp_query(ldom, qp_num, attr, mask, init_attr);
	return shim_leave(&entry, err);
}
SHIM_EXPORT(ibv_query_xrc_rcv_qp);

/*
 * Legacy: keeps the receive QP alive until unregistered; idempotent per opened device.
 * Modern: the kernel's OPEN_QP (modern/kernel.h).
 * Difference: NULL and stale domains are EINVAL; the old library crashed.
 */
int ibv_reg_xrc_rcv_qp(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_reg_xrc_rcv_qp, ARGUMENTS(ldom, qp_num));

	if (!err)
		err = rcv_qp_register(ldom, qp_num);
	return shim_leave(&entry, err);
}
SHIM_EXPORT(ibv_reg_xrc_rcv_qp);

/*
 * Legacy: one unreg undoes any number of regs; the last one of all processes ends the QP.
 * Modern: ibv_destroy_qp of the creator's QP, or the kernel's DESTROY_QP of an opened handle.
 * Difference: NULL and stale domains are EINVAL; the kernel drops unread events of the QP.
 */
int ibv_unreg_xrc_rcv_qp(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_unreg_xrc_rcv_qp, ARGUMENTS(ldom, qp_num));

	if (!err)
		err = rcv_qp_unregister(ldom, qp_num);
	return shim_leave(&entry, err);
}
SHIM_EXPORT(ibv_unreg_xrc_rcv_qp);
