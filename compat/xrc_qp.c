/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The XRC QPs of the program, and the domains that they keep busy. */
#include "xrc_qp.h"
#include "attr.h"
#include "domain.h"

#include <base/handle.h>
#include <base/log.h>
#include <base/summary.h>
#include <modern/modern.h>
#include <two_way/half.h>
#include <two_way/pair.h>
#include <two_way/qp_numbers.h>

#include <errno.h>
#include <stdlib.h>

struct xrc_qp {
	struct pair pair;		/* the program has ini; tgt is NULL if one-way */
	uint32_t ini_num, tgt_num;	/* copies: another thread may compare while a QP is freed */
	struct legacy_xrc_domain *ldom;
	struct device_domain *device_domain;
	uint32_t tgt_events;		/* how many were handed out, as events of ini */
	unsigned users; /* threads in pair_fail() */
	bool ending;
};

static PER_PROCESS struct handle_map xrc_qps;	/* by pair.ini */
static PER_PROCESS struct handle_map targets;	/* by pair.tgt */

/* GASNet probes with max_inline_data -1 and expects EINVAL; providers differ with such a size. */
#define INLINE_DATA_ABSURD 0x10000u

static bool is_valid(const struct ibv_pd *pd, const struct legacy_qp_init_attr *attr)
{
	return pd && attr->send_cq && attr->recv_cq && !attr->srq &&
	       attr->send_cq->context == pd->context && attr->recv_cq->context == pd->context &&
	       attr->cap.max_inline_data < INLINE_DATA_ABSURD;
}

/* qp_type and srq are left out: modern_create_ini_qp() sets them. */
static struct ibv_qp_init_attr init_attr_from_legacy(const struct legacy_qp_init_attr *attr)
{
	return (struct ibv_qp_init_attr){
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		/* A sender needs none, but old programs may read qp->recv_cq back. */
		.recv_cq = attr->recv_cq,
		.cap = attr->cap,
		.sq_sig_all = attr->sq_sig_all,
	};
}

static int publish(struct xrc_qp *xrc_qp, struct domain *domain)
{
	int err;

	state_lock();
	err = handle_set(&xrc_qps, xrc_qp->pair.ini, xrc_qp);
	if (!err && xrc_qp->pair.tgt)
		err = handle_set(&targets, xrc_qp->pair.tgt, xrc_qp);
	if (err) {
		handle_remove(&xrc_qps, xrc_qp->pair.ini, xrc_qp);
	} else {
		xrc_qp->device_domain = domain->device_domain;
		domain->device_domain->qps++;
	}
	state_unlock();
	return err;
}

static int create_qps(struct domain *domain, struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
		      bool two_way, struct pair *pair)
{
	static bool warned;
	int err;

	if (!two_way)
		return modern_create_ini_qp(pd, attr, &pair->ini);
	err = pair_create(pd, domain->xrcd, attr, pair);
	if (err != -ERANGE)
		return err;
	log_once(warned,
		 "%s gives no neighbouring QP numbers, so this program's XRC QPs cannot send both ways; "
		 "if it only sends on them, set XRC_COMPAT_TWO_WAY=off",
		 pd->context->device->name);
	return -ENOMEM;
}

static int create_in(struct domain *domain, struct ibv_pd *pd, struct legacy_qp_init_attr *attr,
		     bool two_way, struct xrc_qp *xrc_qp)
{
	struct ibv_qp_init_attr init_attr = init_attr_from_legacy(attr);
	int err = create_qps(domain, pd, &init_attr, two_way, &xrc_qp->pair);

	if (err)
		return err;
	xrc_qp->ini_num = xrc_qp->pair.ini->qp_num;
	xrc_qp->tgt_num = xrc_qp->pair.tgt ? xrc_qp->pair.tgt->qp_num : 0;
	xrc_qp->ldom = &domain->legacy;
	err = publish(xrc_qp, domain);
	if (err) {
		pair_destroy(&xrc_qp->pair);
		return err;
	}
	summary_add(SUMMARY_XRC_QPS);
	qp_number_add(pd->context, xrc_qp->ini_num);
	if (xrc_qp->pair.tgt)
		qp_number_hide(pd->context, xrc_qp->tgt_num);
	attr->cap = init_attr.cap;
	return 0;
}

int xrc_qp_create(struct ibv_pd *pd, struct legacy_qp_init_attr *attr, bool two_way,
		  struct ibv_qp **qp)
{
	struct domain *domain;
	struct xrc_qp *xrc_qp;
	int err;

	if (!is_valid(pd, attr))
		return -EINVAL;
	xrc_qp = calloc(1, sizeof(*xrc_qp));
	if (!xrc_qp)
		return -ENOMEM;
	domain = domain_hold(attr->xrc_domain, pd->context);
	err = domain ? create_in(domain, pd, attr, two_way, xrc_qp) : -EINVAL;
	if (err)
		free(xrc_qp);
	else
		*qp = xrc_qp->pair.ini;
	domain_release(domain); /* last: then a close of the device may free xrc_qp */
	return err;
}

struct xrc_qp *xrc_qp_find(const struct ibv_qp *qp)
{
	struct xrc_qp *xrc_qp;

	state_lock();
	xrc_qp = handle_find(&xrc_qps, qp);
	state_unlock();
	return xrc_qp;
}

struct ibv_qp *xrc_qp_target(const struct xrc_qp *xrc_qp)
{
	return xrc_qp->pair.tgt;
}

int xrc_qp_modify(struct xrc_qp *xrc_qp, const struct legacy_qp_attr *lattr, int mask)
{
	struct ibv_qp_attr attr = attr_from_legacy(lattr);

	return xrc_qp->pair.tgt ? pair_modify(&xrc_qp->pair, &attr, mask)
				: half_modify(HALF_INITIATOR, xrc_qp->pair.ini, &attr, mask);
}

int xrc_qp_query(struct xrc_qp *xrc_qp, struct legacy_qp_attr *lattr, int mask,
		 struct legacy_qp_init_attr *linit_attr)
{
	struct ibv_qp_init_attr init_attr = { 0 };
	struct ibv_qp_attr attr = { 0 };
	int err = xrc_qp->pair.tgt ? pair_query(&xrc_qp->pair, &attr, mask, &init_attr)
				   : modern_query_qp(xrc_qp->pair.ini, &attr, mask, &init_attr);

	if (err)
		return err;
	attr_to_legacy(&attr, lattr);
	*linit_attr = (struct legacy_qp_init_attr){
		.qp_context = init_attr.qp_context,
		.send_cq = init_attr.send_cq,
		.recv_cq = init_attr.recv_cq,
		.cap = init_attr.cap,
		.qp_type = LEGACY_QPT_XRC,
		.sq_sig_all = init_attr.sq_sig_all,
		.xrc_domain = xrc_qp->ldom,
	};
	return 0;
}

/*
 * Comes before the destroy of the visible half, so that no event of the target is handed out as an
 * event of a freed QP.
 */
static int destroy_target(struct xrc_qp *xrc_qp)
{
	struct ibv_qp *tgt = xrc_qp->pair.tgt;
	int err = modern_destroy_qp(tgt);

	if (err)
		return err;
	state_lock();
	handle_remove(&targets, tgt, xrc_qp);
	xrc_qp->pair.tgt = NULL;
	state_unlock();
	modern_uncount_qp_acks(xrc_qp->pair.ini, xrc_qp->tgt_events);
	return 0;
}

/* After ending is set to true, no thread is in pair_fail() for the pair, and none begins it. */
static void set_ending(struct xrc_qp *xrc_qp, bool ending)
{
	state_lock();
	xrc_qp->ending = ending;
	while (ending && xrc_qp->users)
		state_wait();
	state_unlock();
}

static void forget_and_free(struct xrc_qp *xrc_qp)
{
	qp_number_remove(xrc_qp->device_domain->context, xrc_qp->ini_num);
	state_lock();
	handle_remove(&xrc_qps, xrc_qp->pair.ini, xrc_qp);
	xrc_qp->device_domain->qps--;
	state_unlock();
	free(xrc_qp);
}

int xrc_qp_destroy(struct xrc_qp *xrc_qp)
{
	int err = 0;

	set_ending(xrc_qp, true);
	if (xrc_qp->pair.tgt)
		err = destroy_target(xrc_qp);
	if (!err)
		err = modern_destroy_qp(xrc_qp->pair.ini);
	if (err)
		set_ending(xrc_qp, false);
	else
		forget_and_free(xrc_qp);
	return err;
}

/* xrc_qp may be NULL, or one-way. Lock held, and released for the time of the verbs. */
static void fail_pair(struct xrc_qp *xrc_qp)
{
	if (!xrc_qp || xrc_qp->ending || !xrc_qp->pair.tgt)
		return;
	xrc_qp->users++;
	state_unlock();
	pair_fail(&xrc_qp->pair);
	state_lock();
	xrc_qp->users--;
	state_changed();
}

struct ibv_qp *xrc_qp_target_event(const struct ibv_qp *tgt)
{
	struct ibv_qp *ini = NULL;
	struct xrc_qp *xrc_qp;

	state_lock();
	xrc_qp = handle_find(&targets, tgt);
	if (xrc_qp) {
		xrc_qp->tgt_events++;
		ini = xrc_qp->pair.ini;
	}
	state_unlock();
	return ini;
}

void xrc_qp_fatal_event(const struct ibv_qp *qp)
{
	struct xrc_qp *xrc_qp;

	state_lock();
	xrc_qp = handle_find(&xrc_qps, qp);
	fail_pair(xrc_qp ? xrc_qp : handle_find(&targets, qp));
	state_unlock();
}

/* A QP that is being destroyed does not count: new QPs may have its numbers already. */
static bool is_half(const struct xrc_qp *xrc_qp, const struct ibv_context *context, uint32_t qp_num)
{
	return !xrc_qp->ending && xrc_qp->device_domain->context == context &&
	       (xrc_qp->ini_num == qp_num || xrc_qp->tgt_num == qp_num);
}

void xrc_qp_failed(const struct ibv_context *context, uint32_t qp_num)
{
	struct xrc_qp *failed = NULL;

	state_lock();
	HANDLE_EACH(mapping, &targets)
		if (is_half(mapping->object, context, qp_num))
			failed = mapping->object;
	fail_pair(failed);
	state_unlock();
}

/* Lets no thread begin pair_fail() for the device. True: a thread is still in it. Lock held. */
static bool set_ending_of(const struct ibv_context *context)
{
	bool failing = false;

	HANDLE_EACH(mapping, &xrc_qps) {
		struct xrc_qp *xrc_qp = mapping->object;

		if (xrc_qp->device_domain->context != context)
			continue;
		xrc_qp->ending = true;
		failing |= xrc_qp->users;
	}
	return failing;
}

void xrc_qp_forget_context(const struct ibv_context *context)
{
	while (set_ending_of(context))
		state_wait();
	HANDLE_EACH(mapping, &xrc_qps) {
		struct xrc_qp *xrc_qp = mapping->object;

		if (xrc_qp->device_domain->context != context)
			continue;
		handle_remove(&targets, xrc_qp->pair.tgt, xrc_qp);
		handle_take(&xrc_qps, mapping);
		qp_number_remove(context, xrc_qp->ini_num);
		free(xrc_qp);
	}
}
