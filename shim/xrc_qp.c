/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: the QP verbs that may be handed an old XRC QP, or an image as the SRQ of an ordinary one. */

#include <stddef.h>
#include <string.h>

#include <compat/device/own_qp.h>
#include <compat/srq/srq.h>
#include <compat/xrc_qp/xrc_qp.h>
#include <modern/modern.h>
#include <modern/table.h>

#include "shim.h"

static struct ibv_qp *create_ordinary(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = modern_pass_create_qp(pd, attr);

	if (qp)
		own_qp_created(qp);
	return qp;
}

static int destroy_ordinary(struct ibv_qp *qp)
{
	struct ops_own *own = own_qp_ending(qp);
	int ret = modern_pass_destroy_qp(qp);

	own_qp_ended(own, ret ? qp : NULL);
	return ret;
}

static int destroy_xrc(struct xrc_qp *xrc_qp, struct ibv_qp *qp)
{
	struct ops_own *own = own_qp_ending(qp);
	int err = xrc_qp_destroy(xrc_qp);

	own_qp_ended(own, err ? qp : NULL);
	return err;
}

static int create_xrc(struct ibv_pd *pd, struct legacy_qp_init_attr *attr, struct ibv_qp **qp)
{
	enum pair_rule rule;
	int err = xrc_qp_create(pd, attr, qp);

	if (err)
		return err;
	own_qp_created(*qp);
	if (!xrc_qp_is_pair(xrc_qp_find(*qp), &rule))
		return 0;
	err = shim_hook_poll_cq(pd->context, rule);
	if (err) {
		destroy_xrc(xrc_qp_find(*qp), *qp);
		*qp = NULL;
	}
	return err;
}

/* attr is librdmacm's copy: the domain is in the original. */
static int create_xrc_by_rdmacm(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
				const struct legacy_qp_init_attr *original, struct ibv_qp **qp)
{
	struct legacy_qp_init_attr lattr = { .xrc_domain = original->xrc_domain };
	int err;

	memcpy(&lattr, attr, offsetof(struct legacy_qp_init_attr, xrc_domain));
	if (!lattr.recv_cq)
		lattr.recv_cq = lattr.send_cq;
	err = create_xrc(pd, &lattr, qp);
	attr->cap = lattr.cap;
	return err;
}

/*
 * Legacy: type 5 is an XRC QP in attr's domain, receive capacities taken as 0. Other types: as today.
 * Modern: IBV_QPT_XRC_SEND; in a two-way program an IBV_QPT_XRC_RECV beside it.
 * Difference: qp->qp_type reads 9; the provider's post_send needs it. An ordinary QP on an XRC SRQ is EINVAL, as today's
 * kernels have it.
 */
SHIM_EXPORT(ibv_create_qp)
struct ibv_qp *shim_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct legacy_qp_init_attr *original = shim_rdmacm_attr();
	struct ibv_qp *qp = NULL;
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_create_qp, ARGUMENTS(pd, original ? (const void *)original : attr));
	bool ordinary = !attr || (int)attr->qp_type != LEGACY_QPT_XRC;

	if (!err && ordinary && attr && image_of(attr->srq))
		err = -EINVAL;
	if (!err && ordinary) {
		qp = create_ordinary(pd, attr);
		shim_leave_with(&entry, 0);
		return qp;
	}
	if (!err)
		err = original ? create_xrc_by_rdmacm(pd, attr, original, &qp) :
				 create_xrc(pd, (struct legacy_qp_init_attr *)attr, &qp);
	return shim_leave_made(&entry, err, qp);
}

/*
 * Legacy: an XRC QP takes, and requires, the masks of RC.
 * Modern: what XRC_SEND refuses is checked, then left out.
 * Difference: none known.
 */
SHIM_EXPORT(ibv_modify_qp)
int shim_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_modify_qp, ARGUMENTS(qp, attr, mask));
	struct xrc_qp *xrc_qp = err ? NULL : xrc_qp_find(qp);

	if (!err && !xrc_qp) {
		shim_pass(&entry);
		return modern_table.modify_qp(qp, attr, mask);
	}
	if (!err)
		err = attr ? xrc_qp_modify(xrc_qp, (const struct legacy_qp_attr *)attr, mask) : -EINVAL;
	return shim_leave(&entry, err);
}

/*
 * Legacy: everything whatever the mask; init_attr has type 5 and the domain.
 * Modern: ibv_query_qp.
 * Difference: none known.
 */
SHIM_EXPORT(ibv_query_qp)
int shim_ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_query_qp, ARGUMENTS(qp, attr, mask));
	struct xrc_qp *xrc_qp = err ? NULL : xrc_qp_find(qp);

	if (!err && !xrc_qp) {
		shim_pass(&entry);
		return modern_table.query_qp(qp, attr, mask, init_attr);
	}
	if (!err && (!attr || !init_attr))
		err = -EINVAL;
	if (!err)
		err = xrc_qp_query(xrc_qp, (struct legacy_qp_attr *)attr, mask,
				   (struct legacy_qp_init_attr *)init_attr);
	return shim_leave(&entry, err);
}

/* Legacy and modern: the same. */
SHIM_EXPORT(ibv_destroy_qp)
int shim_ibv_destroy_qp(struct ibv_qp *qp)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_destroy_qp, ARGUMENTS(qp));
	struct xrc_qp *xrc_qp = err ? NULL : xrc_qp_find(qp);

	if (!err)
		modern_await_acks(qp, entry.hold.state);
	if (!err && !xrc_qp)
		return shim_leave_with(&entry, destroy_ordinary(qp));
	if (!err)
		err = destroy_xrc(xrc_qp, qp);
	return shim_leave(&entry, err);
}
