/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive QPs: the registrations of this process, and the kernel handle behind each. */
#include "rcv_qp.h"
#include "attr.h"
#include "domain.h"

#include <base/log.h>
#include <base/summary.h>
#include <modern/modern.h>
#include <two_way/half.h>
#include <two_way/qp_numbers.h>

#include <errno.h>
#include <stdlib.h>

enum phase {
	OPENING,	/* a thread asks the kernel */
	REGISTERED,
	CLOSING,	/* a thread ends its handle: waits for its users, then asks the kernel */
};

struct rcv_qp {
	uint32_t qp_num;
	enum phase phase;
	bool created;			/* by this opened device */
	int place; /* in the registration table; set with qp and has_inode */
	unsigned users;			/* verbs that use the handle right now */
	struct device_domain *device_domain; /* that all handles of the inode share */
	struct ibv_qp *qp;	/* the created QP, or our opened handle; NULL while OPENING */
};

/* ---- the map of a domain, lock held ---- */

static const void *key_of(uint32_t qp_num)
{
	return (const void *)(uintptr_t)qp_num;
}

/* Waits while another thread opens or closes the registration. NULL: there is none. */
static struct rcv_qp *find_settled(struct device_domain *device_domain, uint32_t qp_num)
{
	const void *key = key_of(qp_num);
	struct rcv_qp *rcv_qp;

	while ((rcv_qp = handle_find(&device_domain->rcv_qps, key)) && rcv_qp->phase != REGISTERED)
		state_wait();
	return rcv_qp;
}

/* Returns the settled registration, or a new one, which is OPENING. NULL: no memory. */
static struct rcv_qp *find_or_insert(struct device_domain *device_domain, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp = find_settled(device_domain, qp_num);

	if (rcv_qp)
		return rcv_qp;
	rcv_qp = calloc(1, sizeof(*rcv_qp));
	if (!rcv_qp)
		return NULL;
	rcv_qp->qp_num = qp_num;
	rcv_qp->phase = OPENING;
	rcv_qp->device_domain = device_domain;
	if (handle_set(&device_domain->rcv_qps, key_of(qp_num), rcv_qp)) {
		free(rcv_qp);
		return NULL;
	}
	return rcv_qp;
}

static void drop(struct rcv_qp *rcv_qp)
{
	struct device_domain *device_domain = rcv_qp->device_domain;

	if (rcv_qp->qp) {
		qp_number_remove(device_domain->context, rcv_qp->qp_num);
		if (device_domain->has_inode)
			regtab_drop(rcv_qp->place);
	}
	handle_remove(&device_domain->rcv_qps, key_of(rcv_qp->qp_num), rcv_qp);
	free(rcv_qp);
	state_changed();
}

static void settle(struct rcv_qp *rcv_qp, struct ibv_qp *qp)
{
	struct device_domain *device_domain = rcv_qp->device_domain;

	if (!rcv_qp->qp)
		qp_number_add(device_domain->context, rcv_qp->qp_num);
	else if (device_domain->has_inode)
		regtab_drop(rcv_qp->place);	/* the new one may differ in @created */
	rcv_qp->qp = qp;
	rcv_qp->phase = REGISTERED;
	if (device_domain->has_inode)
		rcv_qp->place =
			regtab_enter(device_domain->entry, rcv_qp->qp_num, rcv_qp->created);
	state_changed();
}

/* Waits until no verb uses the registration, and lets none begin. */
static void begin_closing(struct rcv_qp *rcv_qp)
{
	rcv_qp->phase = CLOSING;
	while (rcv_qp->users)
		state_wait();
}

/* The end of a verb: settle or drop its registration, and leave the domain. */
static void finish(struct domain *domain, struct rcv_qp *rcv_qp, struct ibv_qp *qp, bool registered)
{
	state_lock();
	if (registered)
		settle(rcv_qp, qp);
	else
		drop(rcv_qp);
	domain_leave(domain);
	state_unlock();
	device_domain_show();
}

/* ---- creating ---- */

/*
 * The registration of a new QP. A thread that had the number of an earlier QP may already have
 * registered the new one. NULL: no memory.
 */
static struct rcv_qp *claim_created(struct device_domain *device_domain, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp;

	state_lock();
	rcv_qp = find_or_insert(device_domain, qp_num);
	if (rcv_qp && rcv_qp->phase == REGISTERED)
		begin_closing(rcv_qp);
	state_unlock();
	return rcv_qp;
}

/* Sets *made to the registration, which the caller settles. */
static int create_in(struct domain *domain, struct rcv_qp **made, struct ibv_qp **qp)
{
	int err = modern_create_tgt_qp(domain->legacy.context, domain->xrcd, MODERN_TGT_REGISTERED,
				       qp);

	if (err)
		return err;
	*made = claim_created(domain->device_domain, (*qp)->qp_num);
	/* A handle that the kernel refuses to end, ends when the device is closed. */
	if (!*made) {
		modern_destroy_qp(*qp);
		return -ENOMEM;
	}
	if ((*made)->qp)
		modern_destroy_qp((*made)->qp);
	(*made)->created = true;
	return 0;
}

int rcv_qp_create(struct legacy_xrc_domain *ldom, uint32_t *qp_num)
{
	struct domain *domain = domain_hold(ldom, NULL);
	struct rcv_qp *rcv_qp;
	struct ibv_qp *qp;
	int err;

	if (!domain)
		return -EINVAL;
	err = create_in(domain, &rcv_qp, &qp);
	if (err) {
		domain_release(domain);
		return err;
	}
	*qp_num = qp->qp_num;
	summary_add(SUMMARY_CREATED);
	finish(domain, rcv_qp, qp, true);
	return 0;
}

/* ---- registering ---- */

/* Inserts a registration that is OPENING. -EEXIST: the number is registered already. */
static int claim(struct device_domain *device_domain, uint32_t qp_num, struct rcv_qp **claimed)
{
	int err = 0;

	state_lock();
	*claimed = find_or_insert(device_domain, qp_num);
	if (!*claimed)
		err = -ENOMEM;
	else if ((*claimed)->phase == REGISTERED)
		err = -EEXIST;
	state_unlock();
	return err;
}

/* Says once why a driver refused to open a handle. */
static void explain_refusal(const struct domain *domain, int err)
{
	static bool warned;

	if (err == -EOPNOTSUPP)
		log_once(
			warned,
			"%s: this kernel's driver cannot share a receive QP between processes; Linux 5.11 "
			"and later can. Other processes get ENOSYS",
			domain->legacy.context->device->name);
}

int rcv_qp_register(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct domain *domain = domain_hold(ldom, NULL);
	struct rcv_qp *rcv_qp;
	struct ibv_qp *qp = NULL;
	int err;

	if (!domain)
		return -EINVAL;
	err = claim(domain->device_domain, qp_num, &rcv_qp);
	if (err) {
		domain_release(domain);
		return err == -EEXIST ? 0 : err;
	}
	err = modern_open_tgt_qp(domain->xrcd, qp_num, MODERN_TGT_REGISTERED, &qp);
	explain_refusal(domain, err);
	if (!err)
		summary_add(SUMMARY_REGISTERED);
	finish(domain, rcv_qp, qp, !err);
	return err;
}

/* ---- unregistering ---- */

/*
 * The kernel keeps the QP for other registrants. Its events are acknowledged when they are handed
 * out, so the destroy does not wait for the program. If the kernel refuses, the registration stays,
 * and the program may try again.
 */
int rcv_qp_unregister(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp;
	struct domain *domain;
	int err;

	state_lock();
	domain = domain_enter(ldom, NULL);
	rcv_qp = domain ? find_settled(domain->device_domain, qp_num) : NULL;
	if (rcv_qp)
		begin_closing(rcv_qp);
	state_unlock();
	if (!rcv_qp) {
		domain_release(domain);
		return -EINVAL;
	}
	err = modern_destroy_qp(rcv_qp->qp);
	finish(domain, rcv_qp, rcv_qp->qp, err != 0);
	return err;
}

void rcv_qp_end_all(struct device_domain *device_domain)
{
	/* The lock is not held: after domain_take() no other thread can reach the map. */
	HANDLE_EACH(mapping, &device_domain->rcv_qps) {
		struct rcv_qp *rcv_qp = mapping->object;

		modern_destroy_qp(rcv_qp->qp);
		state_lock();
		drop(rcv_qp);
		state_unlock();
	}
}

/* ---- a kernel handle for one verb ---- */

struct use {
	struct domain *domain;
	struct rcv_qp *held;	/* NULL: qp was opened for this use */
	struct ibv_qp *qp;
};

/* -EINVAL: no such receive QP in this domain. end_use() after success. */
static int begin_use(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct use *use)
{
	int err;

	*use = (struct use){ 0 };
	state_lock();
	use->domain = domain_enter(ldom, NULL);
	if (use->domain)
		use->held = find_settled(use->domain->device_domain, qp_num);
	if (use->held) {
		use->held->users++;
		use->qp = use->held->qp;
	}
	state_unlock();
	if (!use->domain)
		return -EINVAL;
	if (use->held)
		return 0;
	err = modern_open_tgt_qp(use->domain->xrcd, qp_num, MODERN_TGT_TRANSIENT, &use->qp);
	explain_refusal(use->domain, err);
	if (err)
		domain_release(use->domain);
	return err;
}

static void end_use(struct use *use)
{
	if (!use->held)
		modern_destroy_qp(use->qp);
	state_lock();
	if (use->held)
		use->held->users--;
	domain_leave(use->domain);
	state_unlock();
}

int rcv_qp_modify(struct legacy_xrc_domain *ldom, uint32_t qp_num,
		  const struct legacy_qp_attr *lattr, int mask)
{
	struct ibv_qp_attr attr = attr_from_legacy(lattr);
	struct use use;
	int err = begin_use(ldom, qp_num, &use);

	if (err)
		return err;
	err = half_modify(HALF_TARGET, use.qp, &attr, mask);
	end_use(&use);
	return err;
}

/* The old libmlx4 wrote this over the kernel's answer (contract 5.5). */
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

int rcv_qp_query(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct legacy_qp_attr *lattr,
		 int mask, struct legacy_qp_init_attr *linit_attr)
{
	struct ibv_qp_init_attr init_attr = { 0 };
	struct ibv_qp_attr attr = { 0 };
	struct use use;
	int err = begin_use(ldom, qp_num, &use);

	if (err)
		return err;
	err = modern_query_qp(use.qp, &attr, mask, &init_attr);
	end_use(&use);
	if (err)
		return err;
	attr_to_legacy(&attr, lattr);
	override_query(ldom, lattr, linit_attr);
	return 0;
}

struct ibv_qp *rcv_qp_handle(const struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp;
	struct domain *domain;
	struct ibv_qp *qp;

	state_lock();
	domain = domain_enter(ldom, NULL);
	rcv_qp = domain ? find_settled(domain->device_domain, qp_num) : NULL;
	qp = rcv_qp ? rcv_qp->qp : NULL;
	state_unlock();
	domain_release(domain);
	return qp;
}
