/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive QPs: who is registered, and the kernel handle behind each registration. */

#include <errno.h>
#include <stdlib.h>

#include <compat/base/log.h>
#include <compat/core/qp_numbers.h>

#include "rcv_qp.h"
#include "rcv_qp_internal.h"

struct rcv_qp *rcv_qp_find_settled(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp;

	while ((rcv_qp = handle_find(&core->rcv_qps, rcv_qp_key(qp_num))) && rcv_qp->phase != RCV_QP_REGISTERED)
		state_wait();
	return rcv_qp;
}

static struct rcv_qp *insert(struct domain *domain, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp = calloc(1, sizeof(*rcv_qp));

	if (!rcv_qp)
		return NULL;
	rcv_qp->qp_num = qp_num;
	rcv_qp->phase = RCV_QP_OPENING;
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
	if (rcv_qp->qp)
		qp_number_remove(rcv_qp->domain->legacy.context, rcv_qp->qp_num);
	regtab_drop(rcv_qp->domain->core->table, rcv_qp->qp_num);
	rcv_qp->domain->registrations--;
	handle_remove(&rcv_qp->domain->core->rcv_qps, rcv_qp_key(rcv_qp->qp_num), rcv_qp);
	free(rcv_qp);
	state_changed();
}

/* Lock held. */
static void settle(struct rcv_qp *rcv_qp, struct ibv_qp *qp, int err)
{
	if (err) {
		drop(rcv_qp);
		return;
	}
	if (!rcv_qp->qp)
		qp_number_add(rcv_qp->domain->legacy.context, rcv_qp->qp_num);
	rcv_qp->qp = qp;
	rcv_qp->phase = RCV_QP_REGISTERED;
	table_enter(rcv_qp->domain->legacy.context, rcv_qp->domain->core->table, rcv_qp->qp_num, rcv_qp->created);
	state_changed();
}

/* Leave the domain. What was to be registered (NULL: nothing) is now, or after an error is forgotten. */
static void leave(struct domain *domain, struct rcv_qp *rcv_qp, struct ibv_qp *qp, int err)
{
	state_lock();
	if (rcv_qp)
		settle(rcv_qp, qp, err);
	domain_leave(domain);
	state_unlock();
}

/* ---- the table ---- */

static void enter_again(void *object, void *arg)
{
	const struct rcv_qp *rcv_qp = object;
	struct core *core = arg;

	if (rcv_qp->phase == RCV_QP_REGISTERED)
		table_enter(core->context, core->table, rcv_qp->qp_num, rcv_qp->created);
}

/* Makes a file if there is none, so no lock is held. settle() and drop() keep it up to date. */
static void look_after_table(struct core *core)
{
	if (!table_refresh(core->context, core->table))
		return;
	state_lock();
	handle_each(&core->rcv_qps, enter_again, core);
	state_unlock();
}

/* ---- creating ---- */

/* *made: the entry to be settled. */
static int create_in(struct domain *domain, struct rcv_qp **made, struct ibv_qp **qp)
{
	int err = modern_create_tgt_qp(domain->legacy.context, domain->xrcd, MODERN_TGT_REGISTERED, qp);

	if (err)
		return err;
	state_lock();
	*made = insert(domain, (*qp)->qp_num);
	state_unlock();
	if (!*made) {
		modern_destroy_qp(*qp);
		return -ENOMEM;
	}
	(*made)->created = true;
	look_after_table(domain->core);
	return 0;
}

int rcv_qp_create(struct legacy_xrc_domain *ldom, uint32_t *qp_num)
{
	struct domain *domain = domain_hold(ldom, NULL);
	struct rcv_qp *rcv_qp = NULL;
	struct ibv_qp *qp = NULL;
	int err;

	if (!domain)
		return -EINVAL;
	err = create_in(domain, &rcv_qp, &qp);
	if (!err)
		*qp_num = qp->qp_num;
	leave(domain, rcv_qp, qp, err);
	return err;
}

/* ---- registering ---- */

/* Enter the domain and claim the number for this opened device. *claimed NULL: it has it already. */
static int claim(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct domain **domain, struct rcv_qp **claimed)
{
	int err = 0;

	state_lock();
	*domain = domain_enter(ldom, NULL);
	if (!*domain) {
		err = -EINVAL;
	} else if (!rcv_qp_find_settled((*domain)->core, qp_num)) {
		*claimed = insert(*domain, qp_num);
		err = *claimed ? 0 : -ENOMEM;
	}
	state_unlock();
	return err;
}

int rcv_qp_open_handle(struct domain *domain, uint32_t qp_num, enum modern_tgt_use use, struct ibv_qp **qp)
{
	int err = modern_open_tgt_qp(domain->xrcd, qp_num, use, qp);
	static bool warned;

	if (err == -EOPNOTSUPP)
		log_once(warned, "%s: this kernel does not share receive QPs between processes of this device's driver; Linux 5.11 "
			 "and later do. Other processes are told ENOSYS", domain->legacy.context->device->name);
	return err;
}

int rcv_qp_register(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp = NULL;
	struct ibv_qp *qp = NULL;
	struct domain *domain;
	int err = claim(ldom, qp_num, &domain, &rcv_qp);

	if (!domain)
		return err;
	if (rcv_qp)
		err = rcv_qp_open_handle(domain, qp_num, MODERN_TGT_REGISTERED, &qp);
	if (rcv_qp && !err)
		look_after_table(domain->core);
	leave(domain, rcv_qp, qp, err);
	return err;
}

/* ---- unregistering ---- */

/* NULL: not registered. Lock held. */
static struct rcv_qp *begin_unregister(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp = rcv_qp_find_settled(core, qp_num);

	if (rcv_qp) {
		rcv_qp->phase = RCV_QP_CLOSING;
		while (rcv_qp->users)
			state_wait();
	}
	return rcv_qp;
}

/* The kernel keeps the QP for the others. Its events are acknowledged as they are handed out: no waiting for anyone. */
static int unregister_from(struct core *core, struct rcv_qp *rcv_qp)
{
	look_after_table(core);
	return modern_destroy_qp(rcv_qp->qp);
}

/* What is refused stays, and the next try may succeed. Lock held. */
static void end_unregister(struct rcv_qp *rcv_qp, int err)
{
	if (err)
		settle(rcv_qp, rcv_qp->qp, 0);
	else
		drop(rcv_qp);
}

int rcv_qp_unregister(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp = NULL;
	struct domain *domain;
	int err = -EINVAL;

	state_lock();
	domain = domain_enter(ldom, NULL);
	if (domain)
		rcv_qp = begin_unregister(domain->core, qp_num);
	state_unlock();
	if (rcv_qp)
		err = unregister_from(domain->core, rcv_qp);
	state_lock();
	if (rcv_qp)
		end_unregister(rcv_qp, err);
	if (domain)
		domain_leave(domain);
	state_unlock();
	return err;
}

struct search {
	const struct ibv_context *context;
	struct core *core;
	uint32_t qp_num;	/* 0: nothing was found */
};

static void look_into(struct core *core, void *arg)
{
	const struct rcv_qp *rcv_qp = handle_any(&core->rcv_qps);
	struct search *search = arg;

	if (!rcv_qp || core->context != search->context)
		return;
	search->core = core;
	search->qp_num = rcv_qp->qp_num;
}

/*
 * The device is being closed: also what its destroy is refused for ends. Not so what a forked child has from its parent: to
 * close a device there ended nothing, for the kernel does that with the last descriptor, and the parent has one.
 */
static void end_registration(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *rcv_qp;

	state_lock();
	rcv_qp = begin_unregister(core, qp_num);
	state_unlock();
	if (!rcv_qp)
		return;
	if (!core->inherited)
		unregister_from(core, rcv_qp);
	state_lock();
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
		if (search.qp_num)
			end_registration(search.core, search.qp_num);
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

static void drop_unsettled(void *object)
{
	struct rcv_qp *rcv_qp = object;

	rcv_qp->domain->registrations--;
	free(rcv_qp);
}

static void core_forked(struct core *core, void *arg)
{
	(void)arg;
	handle_drop(&core->rcv_qps, is_unsettled, NULL, drop_unsettled);
	handle_each(&core->rcv_qps, forget_users, NULL);
}

void rcv_qp_forked(void)
{
	core_each(core_forked, NULL);
}
