/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The two-way QP: initiator and target created, modified and destroyed as one. */
#include "pair.h"
#include "half.h"
#include "qp_numbers.h"

#include <base/state.h>
#include <modern/modern.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* ---- numbers ---- */

/* The provider decides, not the number: a number of mlx5 may have the bit that is mlx4's tag. */
enum pair_rule pair_rule_of(struct ibv_context *context)
{
	return modern_tags_tgt_qps(context) ? PAIR_TAGGED : PAIR_NEXT;
}

uint32_t pair_target(enum pair_rule rule, uint32_t visible)
{
	uint32_t next = (visible + 1) % QP_NUMBERS;

	return rule == PAIR_TAGGED ? next | PAIR_TARGET_TAG : next;
}

bool pair_fits(enum pair_rule rule, uint32_t initiator, uint32_t target)
{
	/* Check both directions: after a wrap into the tag, pair_visible() gives another number. */
	return pair_target(rule, initiator) == target && pair_visible(rule, target) == initiator;
}

/* ---- creating ---- */

/* Devices count numbers up. An attempt fails if another QP is created in between. */
#define PAIR_ATTEMPTS 64

/* All ranks of a host connect at once. Without a lock each takes the number that another needs. */
#define LOCK_TRIES 5000
#define LOCK_PAUSE_NS 200000

static atomic_bool busy;	/* a lock was not free in time */

/*
 * One process at a time creates a pair on a device, by a lock on the device file that each has
 * open. The lock only makes pairs likelier. After LOCK_TRIES, a second or two, the process goes on
 * without it, and never waits for one again: the holder may be stopped, or have left the lock to a
 * child. It waits so long because eight ranks that use all PAIR_ATTEMPTS need a second.
 */
static bool lock_device(const struct ibv_context *context)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	int tries = atomic_load(&busy) ? 1 : LOCK_TRIES;

	while (tries--) {
		if (!flock(context->cmd_fd, LOCK_EX | LOCK_NB))
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		if (tries)
			nanosleep(&pause, NULL);
	}
	atomic_store(&busy, true);
	return false;
}

/* Threads share an opened device's descriptor, so its lock does not keep them from one another. */
static PER_PROCESS bool creating;

static void begin_creating(void)
{
	state_lock();
	while (creating)
		state_wait();
	creating = true;
	state_unlock();
}

static void end_creating(void)
{
	state_lock();
	creating = false;
	state_changed();
	state_unlock();
}

/* Today's programs take numbers without the lock. A random pause avoids repeated collisions. */
static void pause_before_attempt(unsigned attempt)
{
	struct timespec now, pause = { 0 };
	uint32_t random;

	if (!attempt)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	random = (uint32_t)now.tv_nsec / 16 ^ (uint32_t)getpid() * 7919;
	pause.tv_nsec = (long)(random % (20000u << (attempt < 6 ? attempt : 6)));
	nanosleep(&pause, NULL);
}

static int create_both(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_qp_init_attr *attr,
		       struct pair *pair)
{
	int err = modern_create_ini_qp(pd, attr, &pair->ini);

	if (err)
		return err;
	err = modern_create_tgt_qp(pd->context, xrcd, MODERN_TGT_PAIRED, &pair->tgt);
	if (err)
		modern_destroy_qp(pair->ini);
	return err;
}

static int create_fitting(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_qp_init_attr *attr,
			  struct pair *pair)
{
	struct pair tried[PAIR_ATTEMPTS];
	enum pair_rule rule = pair_rule_of(pd->context);
	unsigned attempt;
	int err;

	for (attempt = 0; attempt < PAIR_ATTEMPTS; attempt++) {
		struct ibv_qp_init_attr wanted = *attr;

		pause_before_attempt(attempt);
		err = create_both(pd, xrcd, &wanted, &tried[attempt]);
		if (err)
			break;
		if (pair_fits(rule, tried[attempt].ini->qp_num, tried[attempt].tgt->qp_num)) {
			*pair = tried[attempt];
			pair->rule = rule;
			attr->cap = wanted.cap;
			break;
		}
		err = -ERANGE;
	}
	/* The device may hand out freed numbers again, so nothing was destroyed before this. */
	while (attempt--)
		pair_destroy(&tried[attempt]);
	return err;
}

int pair_create(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_qp_init_attr *attr,
		struct pair *pair)
{
	bool locked;
	int err;

	if (!attr->cap.max_send_wr)	/* qperf's xrc_bw server; not every provider takes 0 */
		attr->cap.max_send_wr = 1;
	begin_creating();
	locked = lock_device(pd->context);
	err = create_fitting(pd, xrcd, attr, pair);
	if (locked)
		flock(pd->context->cmd_fd, LOCK_UN);
	end_creating();
	return err;
}

/* ---- both halves ---- */

/*
 * If one half is in ERR, modify the other to ERR, and return true. A program that reads ERR expects
 * that no message arrives any more.
 */
static bool join_err(const struct pair *pair, enum ibv_qp_state ini, enum ibv_qp_state tgt)
{
	if ((ini == IBV_QPS_ERR) == (tgt == IBV_QPS_ERR))
		return false;
	pair_fail(pair);
	return true;
}

static int query_halves(const struct pair *pair, struct half *ini, struct half *tgt)
{
	int err = half_query(ini);

	if (!err)
		err = half_query(tgt);
	if (!err && join_err(pair, ini->state, tgt->state))
		ini->state = tgt->state = IBV_QPS_ERR;
	return err;
}

/*
 * Our initiator connects to their target, our target to their initiator. The program has one QP, so
 * it gets one SQ_DRAINED event, the initiator's.
 */
static int set_halves(const struct pair *pair, const struct half *ini, int ini_mask,
		      const struct half *tgt, int tgt_mask, const struct ibv_qp_attr *attr)
{
	struct ibv_qp_attr ini_attr = *attr;
	int err = tgt_mask ? half_set(tgt, attr, tgt_mask & ~IBV_QP_EN_SQD_ASYNC_NOTIFY) : 0;

	ini_attr.dest_qp_num = pair_target(pair->rule, attr->dest_qp_num);
	return err ? err : half_set(ini, &ini_attr, ini_mask);
}

int pair_modify(const struct pair *pair, const struct ibv_qp_attr *attr, int mask)
{
	struct half ini = { .qp = pair->ini, .role = HALF_INITIATOR },
		    tgt = { .qp = pair->tgt, .role = HALF_TARGET };
	int ini_mask, tgt_mask = 0;
	int err = query_halves(pair, &ini, &tgt);
	bool tgt_is_there = !err && ini.state != tgt.state && mask & IBV_QP_STATE &&
			    tgt.state == attr->qp_state;

	/* Both masks are checked before a half changes. A failed call may have moved the target. */
	if (!err)
		err = half_mask(&ini, attr, mask, &ini_mask);
	if (!err && !tgt_is_there)
		err = half_mask(&tgt, attr, mask, &tgt_mask);
	return err ? err : set_halves(pair, &ini, ini_mask, &tgt, tgt_mask, attr);
}

int pair_query(const struct pair *pair, struct ibv_qp_attr *attr, int mask,
	       struct ibv_qp_init_attr *init_attr)
{
	struct ibv_qp_init_attr tgt_init_attr = { 0 };
	struct ibv_qp_attr tgt_attr = { 0 };
	int err = modern_query_qp(pair->ini, attr, mask, init_attr);

	if (!err)
		err = modern_query_qp(pair->tgt, &tgt_attr, mask, &tgt_init_attr);
	if (err)
		return err;
	if (join_err(pair, attr->qp_state, tgt_attr.qp_state))
		attr->qp_state = attr->cur_qp_state = IBV_QPS_ERR;
	attr->dest_qp_num = tgt_attr.dest_qp_num;
	attr->rq_psn = tgt_attr.rq_psn;
	attr->qp_access_flags = tgt_attr.qp_access_flags;
	attr->max_dest_rd_atomic = tgt_attr.max_dest_rd_atomic;
	attr->min_rnr_timer = tgt_attr.min_rnr_timer;
	return 0;
}

void pair_destroy(const struct pair *pair)
{
	modern_destroy_qp(pair->ini);
	if (pair->tgt)
		modern_destroy_qp(pair->tgt);
}

void pair_fail(const struct pair *pair)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	/* A half that is in RESET cannot go to ERR and need not: it neither sends nor receives. */
	modern_modify_qp(pair->ini, &attr, IBV_QP_STATE);
	modern_modify_qp(pair->tgt, &attr, IBV_QP_STATE);
}
