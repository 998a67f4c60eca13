/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive QPs on devices whose kernel does not share them: registering, keeping them for others, asking and answering. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <include/own_thread.h>
#include <modern/modern.h>

#include <compat/base/log.h>
#include <compat/core/leftover.h>
#include <compat/rcv_qp/rcv_qp.h>
#include <compat/rcv_qp/rcv_qp_attr.h>

#include "keep.h"

_Static_assert(sizeof(struct rcv_qp_request) <= OWNER_MESSAGE_MAX, "fits a question");

/* What a killed process left behind is noticed at the latest after this. */
#define SERVE_TIMEOUT_MS 1000
/* A stopped owner must not hold the others up for ever. But one that only has to wait for a processor must not be taken for that. */
#define ANSWER_TIMEOUT_MS 10000
/* The old kernel had destroyed the QP when the last unregister returned. */
#define END_TIMEOUT_MS 5000

/* ---- kept for others ---- */

struct rcv_qp *keeper_find(const struct core *core, uint32_t qp_num)
{
	return core->kept ? handle_find(&core->kept->qps, rcv_qp_key(qp_num)) : NULL;
}

/*
 * Called before the table is asked whether others are registered. If they are, one of them may ask for this QP, or the last of
 * them unregister, at any moment from then on.
 */
static int keep(struct core *core, const struct rcv_qp *rcv_qp)
{
	struct rcv_qp *kept = malloc(sizeof(*kept));
	int err = -ENOMEM;

	if (!kept)
		return err;
	*kept = *rcv_qp;
	state_lock();
	err = handle_add(&core->kept->qps, rcv_qp_key(kept->qp_num), kept);
	if (!err) {
		core->kept->count++;
		kept->domain->kept++;
	}
	state_unlock();
	if (err)
		free(kept);
	return err;
}

/* Whoever takes a kept QP out ends it. NULL: someone did already. */
static struct rcv_qp *take(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *kept;

	state_lock();
	kept = keeper_find(core, qp_num);
	if (kept) {
		handle_remove(&core->kept->qps, rcv_qp_key(qp_num), kept);
		while (kept->users)
			state_wait();
	}
	state_unlock();
	return kept;
}

static void forget(struct core *core, struct rcv_qp *kept)
{
	state_lock();
	core->kept->count--;
	kept->domain->kept--;
	state_unlock();
	free(kept);
}

static void keep_no_more(struct core *core, uint32_t qp_num)
{
	struct rcv_qp *kept = take(core, qp_num);

	if (kept)
		forget(core, kept);
}

static void unused(void *argument, uint32_t qp_num)
{
	struct core *core = argument;
	struct rcv_qp *kept = take(core, qp_num);

	if (!kept)
		return;
	leftover_destroy_qp(kept->qp);
	forget(core, kept);
}

static void forget_users(void *object, void *arg)
{
	(void)arg;
	((struct rcv_qp *)object)->users = 0;
}

void keeper_forked(struct core *core)
{
	if (!core->kept)
		return;
	pthread_mutex_init(&core->kept->starting, NULL);
	handle_each(&core->kept->qps, forget_users, NULL);
}

/* ---- answering ---- */

static int answer(void *argument, uint32_t qp_num, const void *message, size_t length, void *reply, size_t *reply_length)
{
	struct rcv_qp_request request;
	struct rcv_qp_use use;
	int err;

	if (length != sizeof(request))
		return -EINVAL;
	memcpy(&request, message, sizeof(request));
	err = rcv_qp_begin_owned(argument, qp_num, &use);
	if (err)
		return err;
	err = rcv_qp_perform(use.qp, &request);
	rcv_qp_end(&use);
	memcpy(reply, &request.attr, sizeof(request.attr));
	*reply_length = sizeof(request.attr);
	return err;
}

static void *serve(void *argument)
{
	static const struct owner_service service = { answer, unused };
	struct core *core = argument;
	struct owner *owner = core->kept->owner;

	own_thread_begin();
	for (;;) {
		if (owner_serve(owner, &service, core, SERVE_TIMEOUT_MS) < 0)
			return NULL;	/* told to stop: core may be gone at any moment */
		table_is_gone(&core->table);
		if (orphan_end(core) || own_thread_is_alone())
			return NULL;
	}
}

/* Starting held. */
static int start_server(struct core *core, struct regtab_member *member)
{
	struct kept *kept = core->kept;
	int err = owner_open(member, &kept->owner);

	if (err)
		return err;
	err = own_thread_start(&kept->server, NULL, serve, core);
	if (err) {
		owner_close(kept->owner);
		kept->owner = NULL;
	}
	return err;
}

static int prepare(struct core *core)
{
	struct kept *made = calloc(1, sizeof(*made));
	int err = 0;

	if (!made)
		return -ENOMEM;
	pthread_mutex_init(&made->starting, NULL);
	state_lock();
	if (!core->kept)
		core->kept = made;
	else
		free(made);
	state_unlock();
	pthread_mutex_lock(&core->kept->starting);
	if (core->shared && !core->kept->owner)
		err = start_server(core, table_member(&core->table));
	pthread_mutex_unlock(&core->kept->starting);
	return err;
}

/* A forked child has no such thread, and must leave the socket's name to its parent. */
void keeper_close(struct core *core)
{
	struct owner *owner = core->kept ? core->kept->owner : NULL;

	if (!owner || !owner_is_ours(owner))
		return;
	if (pthread_equal(core->kept->server, pthread_self())) {
		pthread_detach(core->kept->server);
	} else {
		owner_stop(owner);
		pthread_join(core->kept->server, NULL);
	}
	owner_close(owner);
	core->kept->owner = NULL;
}

/* ---- registering ---- */

int keeper_add(struct core *core, uint32_t qp_num)
{
	struct regtab_member *member;
	int err = core->shared ? table_join(&core->table, &member) : 0;

	if (!err)
		err = prepare(core);
	if (!err && core->shared)
		err = regtab_add(member, qp_num, REGTAB_BY_OWNER);
	return table_error(&core->table, err);
}

/* Old programs know no such error: to them a QP that ended with its owner is one that there is not. */
static int owner_gone(const struct core *core, uint32_t qp_num)
{
	static bool warned;

	log_once(warned, "%s: receive QP 0x%x is gone: this device cannot share QPs between processes, and the one that "
		 "made it has ended", core->context->device->name, qp_num);
	return -EINVAL;
}

int keeper_register(struct core *core, uint32_t qp_num)
{
	struct regtab_member *member;
	int err = table_join(&core->table, &member);

	if (!err)
		err = regtab_register(member, qp_num);
	if (err == -EINVAL)
		table_is_gone(&core->table);	/* a warning, if that is why */
	return err == -EOWNERDEAD ? owner_gone(core, qp_num) : table_error(&core->table, err);
}

int keeper_register_again(struct core *core, uint32_t qp_num)
{
	const struct rcv_qp *rcv_qp;
	bool elsewhere;

	state_lock();
	rcv_qp = rcv_qp_find_settled(core, qp_num);
	elsewhere = rcv_qp && !rcv_qp->qp;
	state_unlock();
	if (!elsewhere || regtab_is_registered(table_member(&core->table), qp_num))
		return 0;
	return keeper_register(core, qp_num);
}

/*
 * The QP is another one's. The table is asked whether this was the last registration, which costs system calls: a registrant
 * that was killed a moment ago must not keep the QP. The last one may also be the owner, if it unregistered, kept the QP for
 * others and registered again.
 * A registration that the table does not know is with a QP that ended with its owner, and whose number another QP has by now.
 * It ends here all the same, or the domain could never be closed.
 */
static int unregister_elsewhere(struct core *core, uint32_t qp_num)
{
	struct regtab_member *member = table_member(&core->table);
	bool last = false;
	int err = regtab_unregister(member, qp_num, &last);

	if (!err && last) {
		unused(core, qp_num);
		owner_tell_unused(member, qp_num, END_TIMEOUT_MS);
	}
	return err == -EINVAL || err == -ESTALE ? 0 : table_error(&core->table, err);
}

int keeper_unregister(struct core *core, const struct rcv_qp *rcv_qp)
{
	uint32_t qp_num = rcv_qp->qp_num;
	bool last = !core->shared;
	int err;

	if (!rcv_qp->qp)
		return unregister_elsewhere(core, qp_num);
	err = keep(core, rcv_qp);
	if (err)
		return err;
	if (core->shared)
		err = regtab_unregister(table_member(&core->table), qp_num, &last);
	/* Not in the table any more (its locks are lost, or its number is another QP's): nobody else is registered with it. */
	if (last || err == -ESTALE || err == -EINVAL) {
		unused(core, qp_num);
		return 0;
	}
	if (err)
		keep_no_more(core, qp_num);
	return table_error(&core->table, err);
}

/* ---- asking ---- */

static int asked_in_vain(const struct core *core, uint32_t qp_num, int err)
{
	static bool warned;
	const char *why = err == -ETIMEDOUT ? "it does not answer (is it stopped?)" : strerror(-err);

	switch (err) {
	case -EINVAL:
	case -ENOMEM:
	case -EBUSY:	/* no socket says these two: they are the owner's answer */
	case -EIO:
		return err;
	case -EOWNERDEAD:
		return owner_gone(core, qp_num);
	}
	log_once(warned, "%s: cannot ask the process that made receive QP 0x%x: %s; this device cannot share QPs between "
		 "processes, and the program is told EINVAL", core->context->device->name, qp_num, why);
	return -EINVAL;
}

int keeper_ask(struct core *core, uint32_t qp_num, struct rcv_qp_request *request)
{
	struct legacy_qp_attr attr;
	struct regtab_member *member;
	size_t length = sizeof(attr);
	int err = table_join(&core->table, &member);

	if (!err)
		err = owner_ask(member, qp_num, request, sizeof(*request), &attr, &length, ANSWER_TIMEOUT_MS);
	if (!err && length != sizeof(attr))
		err = -EPROTO;
	if (err)
		return asked_in_vain(core, qp_num, err);
	request->attr = attr;
	return 0;
}
