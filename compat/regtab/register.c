/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Adding QPs, registering and unregistering. The argument why no lock is needed stands in tab.h. */

#include <time.h>

#include "tab.h"

#define RETRIES_MAX 1000	/* each means that an owner was about to end the QP; only a hostile file reaches it */

/* ---- adding ---- */

static void clear_all(struct regtab *tab, unsigned member, uint32_t qp_num)
{
	for (int map = ROW_MAPS - 1; map >= 0; map--)
		regtab_row_clear(tab, member, (enum row_map)map, qp_num);
}

static int set_created(struct regtab_member *member, uint32_t qp_num, bool owned)
{
	struct regtab *tab = member->tab;
	int err = 0;

	if (owned)
		err = regtab_row_set(tab, member->index, ROW_OWNED, qp_num);
	if (!err)
		err = regtab_row_set(tab, member->index, ROW_REGISTERED, qp_num);
	if (!err)
		err = regtab_row_set(tab, member->index, ROW_CREATED, qp_num);
	if (err)
		clear_all(tab, member->index, qp_num);
	return err;
}

/* Adding goes with a system call that creates the QP, so it pays for finding out whether our locks are lost. */
static int begin_adding(struct regtab_member *member, uint32_t qp_num)
{
	int err = regtab_member_check(member);

	if (!err && (!qp_num || qp_num > QP_NUM_MAX))
		err = -EINVAL;
	return err ? err : regtab_member_hold(member);
}

int regtab_add(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier carrier)
{
	int err = begin_adding(member, qp_num);

	if (err)
		return err;
	pthread_mutex_lock(&member->mutex);
	for (int i = 0; (i = regtab_next_alive(member->tab, (unsigned)i)) >= 0; i++)
		clear_all(member->tab, (unsigned)i, qp_num);
	err = set_created(member, qp_num, carrier == REGTAB_BY_OWNER);
	pthread_mutex_unlock(&member->mutex);
	return err;
}

int regtab_enter(struct regtab_member *member, uint32_t qp_num)
{
	int err = begin_adding(member, qp_num);

	if (err)
		return err;
	pthread_mutex_lock(&member->mutex);
	err = regtab_row_set(member->tab, member->index, ROW_REGISTERED, qp_num);
	pthread_mutex_unlock(&member->mutex);
	return err;
}

/* ---- finding ---- */

/* One that was found alive is taken for it so long: a program that unregisters all it has asks once, not each time. */
#define SEEN_ALIVE_NS	20000

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
			if (regtab_row_has(tab, other, ROW_REGISTERED, qp_num))
				return REGTAB_BY_KERNEL;
		} else if (!regtab_row_has(tab, other, ROW_CREATED, qp_num)) {
			lost = true;	/* unless its owner is found yet */
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

static bool still_keeps(struct regtab *tab, unsigned owner, uint32_t qp_num)
{
	return member_is_alive(tab, owner) && regtab_row_has(tab, owner, ROW_CREATED, qp_num);
}

/* Whether some live member is registered. Who costs a system call is asked only when there is nobody else. */
static bool somebody_lives(struct regtab_member *member, uint32_t qp_num)
{
	struct regtab *tab = member->tab;

	for (int i = 0; (i = regtab_next_alive(tab, (unsigned)i)) >= 0; i++)
		if (member_is_local(tab, (unsigned)i) && regtab_row_has(tab, (unsigned)i, ROW_REGISTERED, qp_num))
			return true;
	for (int i = 0; (i = regtab_next_alive(tab, (unsigned)i)) >= 0; i++)
		if (regtab_row_has(tab, (unsigned)i, ROW_REGISTERED, qp_num) && lives(member, (unsigned)i))
			return true;
	return false;
}

/* ---- registering ---- */

/* -EAGAIN: its owner is about to end it, or has. Member's mutex held. */
static int try_register(struct regtab_member *member, uint32_t qp_num)
{
	struct regtab *tab = member->tab;
	unsigned owner, self = member->index;
	int kind = find(member, qp_num, &owner), err = 0;

	if (kind < 0 || regtab_row_has(tab, self, ROW_REGISTERED, qp_num))
		return kind < 0 ? kind : 0;
	if (kind == REGTAB_BY_OWNER)
		err = regtab_row_set(tab, self, ROW_OWNED, qp_num);
	if (!err)
		err = regtab_row_set(tab, self, ROW_REGISTERED, qp_num);
	if (err || kind != REGTAB_BY_OWNER || still_keeps(tab, owner, qp_num))
		return err;
	regtab_row_clear(tab, self, ROW_REGISTERED, qp_num);
	regtab_row_clear(tab, self, ROW_OWNED, qp_num);
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
	return !regtab_member_check(member) && regtab_row_has(member->tab, member->index, ROW_REGISTERED, qp_num);
}

/* ---- unregistering ---- */

/* By the owner alone: nobody can be registered any more, or somebody is. Member's mutex held. */
static bool end_kept(struct regtab_member *member, uint32_t qp_num)
{
	if (somebody_lives(member, qp_num))
		return false;
	regtab_row_clear(member->tab, member->index, ROW_CREATED, qp_num);
	if (somebody_lives(member, qp_num)) {
		regtab_row_set(member->tab, member->index, ROW_CREATED, qp_num);
		return false;
	}
	regtab_row_clear(member->tab, member->index, ROW_OWNED, qp_num);
	return true;
}

static bool unregister(struct regtab_member *member, uint32_t qp_num, bool ask)
{
	struct regtab *tab = member->tab;
	unsigned self = member->index;
	bool owned = regtab_row_has(tab, self, ROW_OWNED, qp_num);

	regtab_row_clear(tab, self, ROW_REGISTERED, qp_num);
	if (owned && regtab_row_has(tab, self, ROW_CREATED, qp_num))
		return ask && end_kept(member, qp_num);
	if (owned)
		regtab_row_clear(tab, self, ROW_OWNED, qp_num);
	return ask && !somebody_lives(member, qp_num);
}

int regtab_unregister(struct regtab_member *member, uint32_t qp_num, bool *last)
{
	int err = regtab_member_check(member);
	bool ended;

	if (err)
		return err;
	if (!regtab_is_registered(member, qp_num))
		return -EINVAL;
	pthread_mutex_lock(&member->mutex);
	ended = unregister(member, qp_num, last);
	pthread_mutex_unlock(&member->mutex);
	if (last)
		*last = ended;
	return 0;
}

uint32_t regtab_unused(struct regtab_member *member, uint32_t from)
{
	struct regtab *tab = member->tab;
	uint32_t qp_num = from;

	if (regtab_member_check(member))
		return 0;
	pthread_mutex_lock(&member->mutex);
	for (; (qp_num = regtab_row_next(tab, member->index, ROW_CREATED, qp_num)); qp_num++)
		if (regtab_row_has(tab, member->index, ROW_OWNED, qp_num) && end_kept(member, qp_num))
			break;
	pthread_mutex_unlock(&member->mutex);
	return qp_num;
}
