/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Exported: the QP verbs that may be handed an old XRC QP, or an image as the SRQ of an ordinary
 * one.
 */
#include <compat/srq.h>
#include <compat/xrc_qp.h>
#include <modern/modern.h>
#include <modern/table.h>
#include <two_way/qp_numbers.h>

#include <stddef.h>
#include <string.h>

#include "shim.h"

/* False for an old XRC QP, and for an ordinary QP on an SRQ image. */
static bool is_plain(const struct ibv_qp_init_attr *attr)
{
	return (int)attr->qp_type != LEGACY_QPT_XRC && !srq_image_of(attr->srq);
}

static struct ibv_qp *create_plain(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = modern_table.create_qp(pd, attr);

	if (qp)
		qp_number_add(qp->context, qp->qp_num);
	return qp;
}

/*
 * The number stays known until the QP is destroyed: another thread may poll its completions. A
 * program must not destroy a handle of xrc_compat_rcv_qp() (xrc_compat.h).
 */
static int destroy_plain(struct ibv_qp *qp)
{
	const struct ibv_context *context = qp->context;
	uint32_t qp_num = qp->qp_num;
	int ret = modern_table.destroy_qp(qp);

	if (!ret)
		qp_number_remove(context, qp_num);
	return ret;
}

/* A hook that stays after a refusal does no harm: a two-way program's first SRQ sets it anyhow. */
static int create_xrc(struct ibv_pd *pd, struct legacy_qp_init_attr *attr, struct ibv_qp **qp)
{
	bool two_way = program_is_two_way();
	int err = two_way && pd ? shim_hook_poll_cq(pd->context) : 0;

	return err ? err : xrc_qp_create(pd, attr, two_way, qp);
}

/* attr is librdmacm's copy. Only the original has the domain. */
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

/* Also refuses an ordinary QP on an SRQ image, and NULL. */
static struct ibv_qp *create_legacy(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct legacy_qp_init_attr *original = shim_rdmacm_attr();
	const void *traced = original ? (const void *)original : attr;
	struct ibv_qp *qp = NULL;
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_create_qp, ARGUMENTS(pd, traced));

	if (!err && (!attr || (int)attr->qp_type != LEGACY_QPT_XRC))
		err = -EINVAL;
	if (!err)
		err = original ? create_xrc_by_rdmacm(pd, attr, original, &qp)
			       : create_xrc(pd, (struct legacy_qp_init_attr *)attr, &qp);
	return shim_leave_made(&entry, err, qp);
}

static NOT_ORDINARY struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (!attr || !is_plain(attr))
		return create_legacy(pd, attr);
	if (shim_is_ready())
		return create_plain(pd, attr);
	shim_refuse(VERB_ibv_create_qp);
	return NULL;
}

/*
 * Legacy: type 5 is an XRC QP in attr's domain, receive capacities taken as 0. Other types: as
 * today.
 * Modern: IBV_QPT_XRC_SEND; in a two-way program an IBV_QPT_XRC_RECV beside it.
 * Difference: qp->qp_type reads 9, because the provider's post_send needs that. An ordinary QP on
 * an XRC SRQ is EINVAL, as in today's kernels.
 */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return program_is_ordinary() ? modern_table.create_qp(pd, attr) : create_qp(pd, attr);
}
SHIM_EXPORT(ibv_create_qp);

/* The old XRC QP, or NULL. A thread that ended in the look-up would keep the lock. */
static struct xrc_qp *find_old(struct ibv_qp *qp)
{
	struct xrc_qp *old;
	struct cancel_hold hold;

	if (!xrc_qp_is_possible(qp))
		return NULL;
	cancel_hold(&hold);
	old = xrc_qp_find(qp);
	cancel_release(&hold);
	return old;
}

static NOT_ORDINARY int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct xrc_qp *old = find_old(qp);
	struct entry entry;
	int err = -EINVAL;

	if (!old)
		return shim_is_ready() ? any_qp_modify(qp, attr, mask)
				       : shim_refuse(VERB_ibv_modify_qp);
	shim_enter(&entry, VERB_ibv_modify_qp, ARGUMENTS(qp, attr, mask));
	if (attr)
		err = xrc_qp_modify(old, (const struct legacy_qp_attr *)attr, mask);
	return shim_leave(&entry, err);
}

/*
 * Legacy: an XRC QP takes, and requires, the masks of RC.
 * Modern: ibv_modify_qp, without the bits that an XRC_SEND QP refuses; they are checked before.
 * Difference: RTS to SQD of an XRC QP is EINVAL on mlx5, whose driver lacks it.
 */
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return program_is_ordinary() ? modern_table.modify_qp(qp, attr, mask)
				     : modify_qp(qp, attr, mask);
}
SHIM_EXPORT(ibv_modify_qp);

static NOT_ORDINARY int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
				 struct ibv_qp_init_attr *init_attr)
{
	struct xrc_qp *old = find_old(qp);
	struct entry entry;
	int err = -EINVAL;

	if (!old)
		return shim_is_ready() ? any_qp_query(qp, attr, mask, init_attr)
				       : shim_refuse(VERB_ibv_query_qp);
	shim_enter(&entry, VERB_ibv_query_qp, ARGUMENTS(qp, attr, mask));
	if (attr && init_attr)
		err = xrc_qp_query(old, (struct legacy_qp_attr *)attr, mask,
				   (struct legacy_qp_init_attr *)init_attr);
	return shim_leave(&entry, err);
}

/*
 * Legacy: all attributes, whatever the mask; init_attr has type 5 and the domain.
 * Modern: ibv_query_qp.
 * Difference: unknown bits in the mask of an ordinary QP are EOPNOTSUPP.
 */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	return program_is_ordinary() ? modern_table.query_qp(qp, attr, mask, init_attr)
				     : query_qp(qp, attr, mask, init_attr);
}
SHIM_EXPORT(ibv_query_qp);

static NOT_ORDINARY int destroy_qp(struct ibv_qp *qp)
{
	struct xrc_qp *old = find_old(qp);
	struct entry entry;

	if (!old)
		return shim_is_ready() ? destroy_plain(qp) : shim_refuse(VERB_ibv_destroy_qp);
	shim_enter(&entry, VERB_ibv_destroy_qp, ARGUMENTS(qp));
	return shim_leave(&entry, xrc_qp_destroy(old));
}

/*
 * Legacy: today's verb.
 * Modern: ibv_destroy_qp, for a two-way QP of both its halves.
 * Difference: a cancelled thread waits for the acknowledgements first.
 */
int ibv_destroy_qp(struct ibv_qp *qp)
{
	return program_is_ordinary() ? modern_table.destroy_qp(qp) : destroy_qp(qp);
}
SHIM_EXPORT(ibv_destroy_qp);
