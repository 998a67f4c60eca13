/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The HCAs' own activity. The daemon has to look for doorbells, which are plain stores. */
#include "wire.h"

#include <base/sleep.h>

#include <sched.h>

#define MILLISECOND 1000000u
#define BUSY_FOR (2u * MILLISECOND) /* the short nap stays for so long after pace.last_found */
#define FLUSH_EVERY MILLISECOND
/* The longest nap, by how long ago a doorbell was found, or anything happened. */
#define FOUND_LATELY (250u * MILLISECOND)
#define ACTIVE_LATELY (2000u * MILLISECOND)
#define ACTIVE_NAP (8u * MILLISECOND)
#define IDLE_NAP (20u * MILLISECOND)
#define LINGER	    20000u /* nanoseconds; a program on another processor answers in 1000 */
/* A command that waits for work waits for so many turns. Long messages go on after it. */
#define MOST_TURNS  16

struct pace {
	uint64_t last_active, last_flush, nap;
	uint64_t last_found; /* a doorbell of a program that does not wake the daemon for it */
};

static struct pace pace;

static void note_bell(struct hca_context *ctx)
{
	struct hca_machine *machine = ctx->device->machine;

	machine->active = true;
	if (machine->slept == SLEEP_OVER)
		pace.last_found = machine->now;
	ctx->processor = machine->slept == SLEEP_WOKEN ? sleep_waker() : -1;
}

/* All QPs of a context ring one bell, which only says that there is something new. */
static void look_at(struct hca_context *ctx)
{
	const struct model *model = ctx->device->model;

	if (bell_take(ctx, &model->send_bell)) {
		sq_kick_all(ctx);
		note_bell(ctx);
	}
	if (bell_take(ctx, &model->arm_bell)) {
		list_for_each(struct hca_cq, cq, &ctx->objects[HCA_CQ], obj.link)
			cq_check_armed(cq);
		note_bell(ctx);
	}
}

/* Only QPs and CQs have doorbells: a context without either is not worth waking up for. */
static bool has_doorbells(const struct hca_context *ctx)
{
	return !list_empty(&ctx->qps) || !list_empty(&ctx->objects[HCA_CQ]);
}

static bool look_everywhere(struct hca_machine *machine)
{
	bool any = false;

	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(struct hca_context, ctx, &machine->device[i].contexts, link) {
			if (!has_doorbells(ctx))
				continue;
			look_at(ctx);
			any = true;
		}
	}
	return any;
}

/* Posting a receive rings no doorbell: what is posted to a QP in ERR is found by looking. */
static void flush_failed(struct hca_machine *machine, uint64_t now)
{
	if (now - pace.last_flush < FLUSH_EVERY)
		return;
	pace.last_flush = now;
	list_for_each(struct hca_qp, qp, &machine->failed, failed)
		recv_flush(qp);
}

static bool reports_nowhere(const struct hca_qp *qp)
{
	bool works = qp->state != IBV_QPS_RESET && qp->state != IBV_QPS_INIT &&
		     qp->state != IBV_QPS_ERR;

	return works &&
	       ((qp->send_cq && qp->send_cq->overrun) || (qp->recv_cq && qp->recv_cq->overrun));
}

/* Fails the QPs of overrun CQs. Not in cq_post(), in the midst of a QP's work. */
static void fail_unheard(struct hca_machine *machine)
{
	if (!machine->overrun)
		return;
	machine->overrun = false;
	machine->active = true;
	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(struct hca_context, ctx, &machine->device[i].contexts, link) {
			list_for_each(struct hca_qp, qp, &ctx->qps, link) {
				if (!reports_nowhere(qp))
					continue;
				qp_fail(qp);
				event_qp(qp, IBV_EVENT_QP_FATAL);
			}
		}
	}
}

void engine_catch_up(struct hca_machine *machine)
{
	look_everywhere(machine);
	for (int turns = 0; turns < MOST_TURNS && send_run(machine); turns++)
		continue;
	fail_unheard(machine);
}

/*
 * An idle daemon costs only its wakeups. A nap longer than a scheduler tick costs one wakeup; a
 * shorter one also programs the timer.
 */
static uint64_t longest_nap(const struct hca_machine *machine, uint64_t now)
{
	if (!list_empty(&machine->failed) || now - pace.last_found < FOUND_LATELY)
		return MILLISECOND;
	return now - pace.last_active < ACTIVE_LATELY ? ACTIVE_NAP : IDLE_NAP;
}

/*
 * Short naps while doorbells are found that did not wake the daemon, longer and longer ones when
 * nothing happens.
 */
static uint64_t next_nap(struct hca_machine *machine, uint64_t now)
{
	uint64_t shortest = (uint64_t)machine->settings.nap * 1000;
	uint64_t longest;

	if (machine->active)
		pace.last_active = now;
	machine->active = false;
	longest = longest_nap(machine, now);
	if (now - pace.last_found < BUSY_FOR || !pace.nap)
		pace.nap = shortest;
	else if (pace.nap < longest)
		pace.nap *= 2;
	return pace.nap < longest ? pace.nap : longest;
}

static bool any_bell(const struct hca_machine *machine)
{
	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(struct hca_context, ctx, &machine->device[i].contexts, link) {
			if (bell_rings(ctx, &ctx->device->model->send_bell))
				return true;
		}
	}
	return false;
}

/*
 * A program that got a message often answers at once, if it runs on another processor. If it shares
 * the daemon's, it does not run before the daemon sleeps.
 */
bool engine_linger(struct hca_machine *machine)
{
	struct hca_context *ctx = machine->reached;
	const int here = sched_getcpu();
	uint64_t end;

	machine->reached = NULL;
	if (!ctx || ctx->processor == here)
		return false;
	end = hca_now() + LINGER;
	do {
		if (any_bell(machine) || sleep_has_ready())
			return true;
		/* The thread that gets the event may have woken up on this processor. */
		if (machine->raised)
			sched_yield();
	} while (hca_now() < end);
	ctx->processor = here;
	return false;
}

uint64_t engine_turn(struct hca_machine *machine)
{
	uint64_t now = hca_now();
	uint64_t nap, timer;
	bool doorbells, again;

	machine->now = now;
	timer_run(&machine->timers, now);
	doorbells = look_everywhere(machine);
	machine->slept = SLEEP_NONE;
	machine->raised = false;
	flush_failed(machine, now);
	again = send_run(machine);
	fail_unheard(machine);
	if (again)
		return 0;
	nap = next_nap(machine, now);
	timer = timer_next(&machine->timers);
	if (timer != UINT64_MAX)
		timer = timer > now ? timer - now : 0;
	if (!doorbells)
		return timer;
	return timer < nap ? timer : nap;
}
