/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive QPs: who is registered, and the kernel handle behind each registration. */

#include <errno.h>
#include <stdlib.h>

#include "leftover.h"
#include "log.h"
#include "ops.h"
#include "owner/owner.h"
#include "rcv_qp_internal.h"

struct rcv_qp *rcv_qp_find_settled(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp;

	while ((rcv_qp = handle_find(&core->rcv_qps, rcv_qp_key(qp_num))) && rcv_qp->phase != RCV_QP_REGISTERED)
		state_wait();
	return rcv_qp;
}

static struct rcv_qp *insert(struct domain *domain, uint32_t qp_num, enum rcv_qp_phase phase)
{
	struct rcv_qp *rcv_qp = calloc(1, sizeof(*rcv_qp));

	if (!rcv_qp)
		return NULL;
	rcv_qp->qp_num = qp_num;
	rcv_qp->phase = phase;
	rcv_qp->domain = domain;
	if (handle_add(&domain->core->rcv_qps, rcv_qp_key(qp_num), rcv_qp)) {
		free(rcv_qp);
		return NULL;
	}
	domain->registrations++;
	return rcv_qp;
}

static void drop(struct rcv_qp *rcv_qp)
{
	rcv_qp->domain->registrations--;
	handle_remove(&rcv_qp->domain->core->rcv_qps, rcv_qp_key(rcv_qp->qp_num), rcv_qp);
	free(rcv_qp);
	state_changed();
}

static void settle(struct rcv_qp *rcv_qp, struct ibv_qp *qp, int err)
{
	state_lock();
	if (err) {
		drop(rcv_qp);
	} else {
		rcv_qp->qp = qp;
		rcv_qp->phase = RCV_QP_REGISTERED;
		ops_note_own(rcv_qp->domain->legacy.context, rcv_qp->qp_num, true);
		state_changed();
	}
	state_unlock();
}

static struct domain *enter(struct legacy_xrc_domain *ldom)
{
	struct domain *domain;

	state_lock();
	domain = domain_enter(ldom, NULL);
	state_unlock();
	return domain;
}

static void leave(struct domain *domain)
{
	state_lock();
	domain_leave(domain);
	state_unlock();
}

/* The table entry of a QP the kernel keeps. It only lets people see; without it everything works all the same. */
static void show(struct core *core, uint32_t qp_num)
{
	/* Nearly always it is in the table, and registering makes no system call; entering does. */
	if (!roster_open(core) && regtab_register(core->roster.member, qp_num) == -EINVAL)
		regtab_enter(core->roster.member, qp_num);
}

static void show_created(struct core *core, uint32_t qp_num)
{
	if (!roster_open(core))
		regtab_add(core->roster.member, qp_num, REGTAB_BY_KERNEL);
}

/* The table entry of a QP that only this process can keep: without it there is no registering with it. */
static int own(struct core *core, uint32_t qp_num)
{
	int err = roster_open(core);

	if (!err && core->shared)
		err = roster_serve(core);
	if (!err)
		err = regtab_add(core->roster.member, qp_num, REGTAB_BY_OWNER);
	return err;
}

/* Whether the kernel shares target QPs of this device: asked before the first is made. Two threads get one answer. */
static int find_kind(struct domain *domain)
{
	struct roster *roster = &domain->core->roster;
	bool shares;
	int err;

	if (__atomic_load_n(&roster->kind, __ATOMIC_RELAXED) != ROSTER_UNKNOWN)
		return 0;
	err = modern_shares_tgt_qps(domain->legacy.context, domain->xrcd, &shares);
	if (!err)
		__atomic_store_n(&roster->kind, shares ? ROSTER_KERNEL : ROSTER_OWNER, __ATOMIC_RELAXED);
	return err;
}

/* A registration under the number of a QP just made is with one that went with its owner. Lock held. */
static void supersede(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *old = rcv_qp_find_settled(core, qp_num);

	if (old && !old->qp)
		drop(old);
}

static int create_in(struct domain *domain, uint32_t *qp_num)
{
	struct rcv_qp *rcv_qp;
	struct ibv_qp *qp;
	int err = find_kind(domain);

	if (!err)
		err = modern_create_tgt_qp(domain->legacy.context, domain->xrcd, MODERN_TGT_REGISTERED, &qp);
	if (err)
		return err;
	state_lock();
	supersede(domain->core, qp->qp_num);
	rcv_qp = insert(domain, qp->qp_num, RCV_QP_OPENING);
	state_unlock();
	err = rcv_qp ? 0 : -ENOMEM;
	if (!err && domain->core->roster.kind == ROSTER_OWNER)
		err = own(domain->core, qp->qp_num);
	else if (!err)
		show_created(domain->core, qp->qp_num);
	if (!err)
		*qp_num = qp->qp_num;
	else
		leftover_destroy_qp(qp);
	if (rcv_qp)
		settle(rcv_qp, qp, err);
	return err;
}

int rcv_qp_create(struct legacy_xrc_domain *ldom, uint32_t *qp_num)
{
	struct domain *domain = enter(ldom);
	int err;

	if (!domain)
		return -EINVAL;
	err = create_in(domain, qp_num);
	leave(domain);
	return err;
}

/* Claim the number for this opened device; NULL with *err 0: it has it already. */
static struct rcv_qp *claim(struct domain *domain, uint32_t qp_num, int *err)
{
	struct rcv_qp *rcv_qp = NULL;

	*err = 0;
	state_lock();
	if (!rcv_qp_find_settled(domain->core, qp_num)) {
		rcv_qp = insert(domain, qp_num, RCV_QP_OPENING);
		if (!rcv_qp)
			*err = -ENOMEM;
	}
	state_unlock();
	return rcv_qp;
}

static int owner_gone(const struct core *core, uint32_t qp_num)
{
	static bool warned;

	log_once(warned, "%s: receive QP 0x%x is gone: this device cannot share QPs between processes, and the one that "
		 "made it has ended", core->context->device->name, qp_num);
	return -EINVAL;
}

static int register_by_table(struct core *core, uint32_t qp_num)
{
	int err = roster_open(core);

	if (!err)
		err = regtab_register(core->roster.member, qp_num);
	return err == -EOWNERDEAD ? owner_gone(core, qp_num) : err;
}

static bool registered_by_table(struct core *core, uint32_t qp_num)
{
	const struct rcv_qp *rcv_qp;
	bool by_table;

	state_lock();
	rcv_qp = rcv_qp_find_settled(core, qp_num);
	by_table = rcv_qp && !rcv_qp->qp;
	state_unlock();
	return by_table;
}

/* The QP that this process is registered with may have gone with its owner, and its number be another one's by now. */
static int register_again(struct core *core, uint32_t qp_num)
{
	if (!registered_by_table(core, qp_num) || regtab_is_registered(core->roster.member, qp_num))
		return 0;
	return register_by_table(core, qp_num);
}

static int register_in(struct domain *domain, uint32_t qp_num)
{
	struct core *core = domain->core;
	struct ibv_qp *qp = NULL;
	struct rcv_qp *rcv_qp;
	int err;

	rcv_qp = claim(domain, qp_num, &err);
	if (!rcv_qp)
		return err ? err : register_again(core, qp_num);
	err = -EOPNOTSUPP;
	if (core->roster.kind != ROSTER_OWNER)
		err = modern_open_tgt_qp(domain->legacy.context, domain->xrcd, qp_num, MODERN_TGT_REGISTERED,
					 &qp);
	if (!err)
		show(core, qp_num);
	else if (err == -EOPNOTSUPP)
		err = register_by_table(core, qp_num);
	settle(rcv_qp, qp, err);
	return err;
}

int rcv_qp_register(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct domain *domain = enter(ldom);
	int err;

	if (!domain)
		return -EINVAL;
	err = register_in(domain, qp_num);
	leave(domain);
	return err;
}

/* The old kernel had destroyed the QP when the last unregister returned; a stopped owner must not hold us up for long. */
#define END_TIMEOUT_MS 1000

/*
 * Asked whether it was the last, at the price of some system calls: a registrant that was killed a moment ago must not
 * keep the QP. The last may be the owner itself, who unregistered, carried the QP for others and registered again.
 * Unknown to the table is what went with its owner and whose number was given out anew: that registration ends here all
 * the same, or the domain could never be closed.
 */
static int unregister_by_table(struct core *core, uint32_t qp_num)
{
	bool last = false;
	int err = regtab_unregister(core->roster.member, qp_num, &last);

	if (!err && last) {
		rcv_qp_retired(core, qp_num);
		owner_tell_unused(core->roster.member, qp_num, END_TIMEOUT_MS);
	}
	return err == -EINVAL ? 0 : err;
}

static struct rcv_qp *begin_unregister(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp;

	state_lock();
	rcv_qp = rcv_qp_find_settled(core, qp_num);
	if (rcv_qp) {
		rcv_qp->phase = RCV_QP_CLOSING;
		while (rcv_qp->users)
			state_wait();
		ops_note_own(core->context, qp_num, false);
	}
	state_unlock();
	return rcv_qp;
}

/* The kernel keeps the QP for the others. Its events are acknowledged as they are handed out: no waiting for anyone. */
static int unregister_by_kernel(struct core *core, struct rcv_qp *rcv_qp)
{
	int err;

	if (core->roster.member)
		regtab_unregister(core->roster.member, rcv_qp->qp_num, NULL);
	err = modern_destroy_qp(rcv_qp->qp);
	if (err)
		show(core, rcv_qp->qp_num);
	return err;
}

static int unregister_from(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp = begin_unregister(core, qp_num);
	int err;

	if (!rcv_qp)
		return -EINVAL;
	if (!rcv_qp->qp)
		err = unregister_by_table(core, qp_num);
	else if (core->roster.kind == ROSTER_OWNER)
		err = rcv_qp_unregister_owned(core, rcv_qp);
	else
		err = unregister_by_kernel(core, rcv_qp);
	state_lock();
	if (err) {
		rcv_qp->phase = RCV_QP_REGISTERED;
		ops_note_own(core->context, qp_num, true);
		state_changed();
	} else {
		drop(rcv_qp);
	}
	state_unlock();
	return err;
}

int rcv_qp_unregister(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct domain *domain = enter(ldom);
	int err;

	if (!domain)
		return -EINVAL;
	err = unregister_from(domain->core, qp_num);
	leave(domain);
	return err;
}

static void note_own(void *object, void *context)
{
	const struct rcv_qp *rcv_qp = object;

	if (rcv_qp->phase == RCV_QP_REGISTERED)
		ops_note_own(context, rcv_qp->qp_num, true);
}

static void note_own_of(struct core *core, void *context)
{
	if (core->context == context)
		handle_each(&core->rcv_qps, note_own, context);
}

void rcv_qp_note_own(struct ibv_context *context)
{
	core_each(note_own_of, context);
}

struct search {
	const struct ibv_context *context;
	struct core *core;
	uint32_t qp_num;
};

static void note_registered(void *object, void *arg)
{
	struct rcv_qp *rcv_qp = object;
	struct search *search = arg;

	if (rcv_qp->phase == RCV_QP_REGISTERED)
		search->qp_num = rcv_qp->qp_num;
}

static void look_into(struct core *core, void *arg)
{
	struct search *search = arg;

	if (search->qp_num || core->context != search->context)
		return;
	handle_each(&core->rcv_qps, note_registered, search);
	search->core = core;
}

static void forget_registration(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp;

	state_lock();
	rcv_qp = rcv_qp_find_settled(core, qp_num);
	if (rcv_qp)
		drop(rcv_qp);
	state_unlock();
}

void rcv_qp_end_context(const struct ibv_context *context)
{
	struct search search;

	do {
		search = (struct search){ .context = context };
		state_lock();
		core_each(look_into, &search);
		state_unlock();
		if (search.qp_num && unregister_from(search.core, search.qp_num))
			forget_registration(search.core, search.qp_num);
	} while (search.qp_num);
}

static bool is_unsettled(const void *object, const void *arg)
{
	(void)arg;
	return ((const struct rcv_qp *)object)->phase != RCV_QP_REGISTERED;
}

static void forget_users(void *object, void *arg)
{
	(void)arg;
	((struct rcv_qp *)object)->users = 0;
}

static void core_forked(struct core *core, void *arg)
{
	struct rcv_qp *rcv_qp;

	(void)arg;
	while ((rcv_qp = handle_take_if(&core->rcv_qps, is_unsettled, NULL))) {
		rcv_qp->domain->registrations--;
		free(rcv_qp);
	}
	handle_each(&core->rcv_qps, forget_users, NULL);
	handle_each(&core->carried, forget_users, NULL);
}

void rcv_qp_forked(void)
{
	core_each(core_forked, NULL);
}
