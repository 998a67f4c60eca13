/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Adding QPs, registering and unregistering. The argument why no lock is needed stands in tab.h. */

#include <time.h>

#include "tab.h"

#define RETRIES_MAX 1000	/* each means that an owner was about to end the QP; only a hostile file reaches it */

/* One that was found alive is taken for it so long: a program that unregisters all it has asks once, not each time. */
#define SEEN_ALIVE_NS	20000

#define MAP_BIT(map) (1u << (map))

/* ---- bits ---- */

/* Bits are set in this order and cleared in the other: a row that has "registered" has the other two as they are meant to be. */
static const enum row_map in_order[] = { ROW_OWNED, ROW_CREATED, ROW_REGISTERED };

static void clear(struct regtab *tab, unsigned member, uint32_t qp_num, unsigned maps)
{
	for (int i = ROW_MAPS - 1; i >= 0; i--)
		if (maps & MAP_BIT(in_order[i]))
			regtab_row_clear(tab, member, in_order[i], qp_num);
}

/* All of them or none. */
static int set(struct regtab_member *member, uint32_t qp_num, unsigned maps)
{
	int err = 0;

	for (int i = 0; i < ROW_MAPS && !err; i++)
		if (maps & MAP_BIT(in_order[i]))
			err = regtab_row_set(member->tab, member->index, in_order[i], qp_num);
	if (err)
		clear(member->tab, member->index, qp_num, maps);
	return err;
}

static bool own_row_has(struct regtab_member *member, enum row_map map, uint32_t qp_num)
{
	return regtab_row_has(member->tab, member->index, map, qp_num);
}

/* ---- adding ---- */

/* Goes with a system call that made the QP or a handle, so it pays for finding out whether our locks are lost. */
static int add(struct regtab_member *member, uint32_t qp_num, unsigned maps)
{
	int err = regtab_member_check(member);

	if (!err && (!qp_num || qp_num > QP_NUM_MAX))
		err = -EINVAL;
	if (!err)
		err = regtab_member_hold(member);
	if (err)
		return err;
	pthread_mutex_lock(&member->mutex);
	if (maps & MAP_BIT(ROW_CREATED))
		for (int i = 0; (i = regtab_next_alive(member->tab, (unsigned)i)) >= 0; i++)
			clear(member->tab, (unsigned)i, qp_num, ~0u);
	err = set(member, qp_num, maps);
	pthread_mutex_unlock(&member->mutex);
	return err;
}

int regtab_add(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier carrier)
{
	unsigned owned = carrier == REGTAB_BY_OWNER ? MAP_BIT(ROW_OWNED) : 0;

	return add(member, qp_num, owned | MAP_BIT(ROW_REGISTERED) | MAP_BIT(ROW_CREATED));
}

int regtab_enter(struct regtab_member *member, uint32_t qp_num)
{
	return add(member, qp_num, MAP_BIT(ROW_REGISTERED));
}

/* ---- finding ---- */

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* As regtab_member_lives(), but one found alive a moment ago costs no system call. Member's mutex held. */
static bool lives(struct regtab_member *asker, unsigned member)
{
	const struct member_row *row = regtab_row(asker->tab, member);
	uint32_t epoch = row ? mem_load(&row->epoch) : 0;
	int64_t now;

	if (member_is_local(asker->tab, member))
		return true;
	now = now_ns();
	if (asker->seen_ns && asker->seen_alive == member && asker->seen_epoch == epoch && now - asker->seen_ns < SEEN_ALIVE_NS)
		return true;
	if (!regtab_member_lives(asker->tab, member))
		return false;
	asker->seen_alive = member;
	asker->seen_epoch = epoch;
	asker->seen_ns = now;
	return true;
}

/* enum regtab_carrier, with *owner where that is one; -EINVAL, -EOWNERDEAD. Member's mutex held. */
static int find(struct regtab_member *member, uint32_t qp_num, unsigned *owner)
{
	struct regtab *tab = member->tab;
	bool lost = false;

	for (int i = 0; (i = regtab_next_alive(tab, (unsigned)i)) >= 0; i++) {
		unsigned other = (unsigned)i;

		if (!regtab_row_has(tab, other, ROW_OWNED, qp_num)) {
			if (!regtab_row_has(tab, other, ROW_REGISTERED, qp_num))
				continue;
			if (!regtab_row_has(tab, other, ROW_OWNED, qp_num))	/* it may just have been entered */
				return REGTAB_BY_KERNEL;
		}
		if (!regtab_row_has(tab, other, ROW_CREATED, qp_num)) {
			/* A registrant's. The owner is gone, unless one of the next members is it. An owner may just be entering or ending it. */
			lost |= regtab_row_has(tab, other, ROW_REGISTERED, qp_num);
		} else if (lives(member, other)) {
			*owner = other;
			return REGTAB_BY_OWNER;
		}
	}
	return lost ? -EOWNERDEAD : -EINVAL;
}

int regtab_owner(struct regtab_member *member, uint32_t qp_num, unsigned *owner)
{
	int kind = regtab_member_check(member);

	if (kind)
		return kind;
	pthread_mutex_lock(&member->mutex);
	kind = find(member, qp_num, owner);
	pthread_mutex_unlock(&member->mutex);
	return kind == REGTAB_BY_KERNEL ? -EINVAL : kind < 0 ? kind : 0;
}

/* Whether some live member is registered. */
static bool somebody_lives(struct regtab_member *member, uint32_t qp_num)
{
	for (int i = 0; (i = regtab_next_alive(member->tab, (unsigned)i)) >= 0; i++)
		if (regtab_row_has(member->tab, (unsigned)i, ROW_REGISTERED, qp_num) && lives(member, (unsigned)i))
			return true;
	return false;
}

/* ---- registering ---- */

static bool still_keeps(struct regtab *tab, unsigned owner, uint32_t qp_num)
{
	return member_is_alive(tab, owner) && regtab_row_has(tab, owner, ROW_CREATED, qp_num);
}

/* -EAGAIN: its owner is about to end it, or has. Member's mutex held. */
static int try_register(struct regtab_member *member, uint32_t qp_num)
{
	unsigned owner, maps = MAP_BIT(ROW_REGISTERED);
	int kind = find(member, qp_num, &owner), err;

	if (kind < 0 || own_row_has(member, ROW_REGISTERED, qp_num))
		return kind < 0 ? kind : 0;
	if (kind == REGTAB_BY_OWNER)
		maps |= MAP_BIT(ROW_OWNED);
	err = set(member, qp_num, maps);
	if (err || kind != REGTAB_BY_OWNER || still_keeps(member->tab, owner, qp_num))
		return err;
	clear(member->tab, member->index, qp_num, maps);
	return -EAGAIN;
}

int regtab_register(struct regtab_member *member, uint32_t qp_num)
{
	int err = regtab_member_check(member);

	if (err)
		return err;
	pthread_mutex_lock(&member->mutex);
	err = -EAGAIN;
	for (int i = 0; i < RETRIES_MAX && err == -EAGAIN; i++)
		err = try_register(member, qp_num);
	pthread_mutex_unlock(&member->mutex);
	return err == -EAGAIN ? -EINVAL : err;
}

bool regtab_is_registered(struct regtab_member *member, uint32_t qp_num)
{
	return !regtab_member_check(member) && own_row_has(member, ROW_REGISTERED, qp_num);
}

/* ---- unregistering ---- */

/* By the owner alone: nobody can be registered any more, or somebody is. Member's mutex held. */
static bool end_kept(struct regtab_member *member, uint32_t qp_num)
{
	if (somebody_lives(member, qp_num))
		return false;
	clear(member->tab, member->index, qp_num, MAP_BIT(ROW_CREATED));
	if (somebody_lives(member, qp_num)) {
		set(member, qp_num, MAP_BIT(ROW_CREATED));
		return false;
	}
	clear(member->tab, member->index, qp_num, MAP_BIT(ROW_OWNED));
	return true;
}

int regtab_unregister(struct regtab_member *member, uint32_t qp_num, bool *last)
{
	int err = regtab_member_check(member);
	bool keeps;

	if (err)
		return err;
	if (!own_row_has(member, ROW_REGISTERED, qp_num))
		return -EINVAL;
	pthread_mutex_lock(&member->mutex);
	keeps = own_row_has(member, ROW_OWNED, qp_num) && own_row_has(member, ROW_CREATED, qp_num);
	clear(member->tab, member->index, qp_num, MAP_BIT(ROW_REGISTERED) | (keeps ? 0 : MAP_BIT(ROW_OWNED)));
	if (last)
		*last = keeps ? end_kept(member, qp_num) : !somebody_lives(member, qp_num);
	pthread_mutex_unlock(&member->mutex);
	return 0;
}

uint32_t regtab_unused(struct regtab_member *member, uint32_t from)
{
	uint32_t qp_num = from;

	if (regtab_member_check(member))
		return 0;
	pthread_mutex_lock(&member->mutex);
	for (; (qp_num = regtab_row_next(member->tab, member->index, ROW_CREATED, qp_num)); qp_num++)
		if (own_row_has(member, ROW_OWNED, qp_num) && end_kept(member, qp_num))
			break;
	pthread_mutex_unlock(&member->mutex);
	return qp_num;
}
