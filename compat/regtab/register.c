/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Adding QPs, registering and unregistering, counting. The argument why no lock is needed stands in slot.c. */

#include <fcntl.h>
#include <time.h>

#include "lock.h"
#include "mail.h"
#include "member.h"
#include "slot.h"

static uint64_t key_again(uint64_t key)
{
	return key_next(key, key_state(key), key_qp_num(key), key_owner(key));
}

/* Take back a bit that may have got into somebody else's entry, and what it kept alive there. */
static void retreat(struct regtab_member *member, const struct slot *slot)
{
	mem_and64(slot_word(slot, member->index), ~member_bit(member->index));
	regtab_slot_settle(member->tab, slot, -1);
}

/* ---- adding ---- */

/* An entry of a QP that is gone, under the number that the kernel has now given to another: make it the new one's. */
static bool take_over(struct regtab_member *member, const struct slot *slot, uint64_t key, enum slot_state state)
{
	unsigned planes = regtab_shape(member->tab).planes, own = member->index / PLANE_MEMBERS;
	uint64_t bit = member_bit(member->index);

	for (unsigned p = 0; p < planes; p++) {
		word64 *word = slot->planes + p * slot->stride;

		/* Crash: the old entry with fewer or no registrants, which was void anyway; ended by the sweep. */
		if (mem_load64(word))
			mem_and64(word, p == own ? bit : 0);
	}
	mem_or64(slot_word(slot, member->index), bit);
	/* Fails when somebody registered with, or ended, the old entry: look again. */
	return mem_cas64(slot->key, key, key_next(key, state, key_qp_num(key), (int)member->index));
}

static bool occupy(struct regtab_member *member, const struct slot *slot, uint64_t key, uint32_t qp_num,
		   enum slot_state state)
{
	uint64_t reserved = key_next(key, SLOT_RESERVED, qp_num, (int)member->index);

	if (!mem_cas64(slot->key, key, reserved))
		return false;				/* another creator took it */
	/* Crash up to here: a dead member's reservation. After the next: and its bit. After the last: its entry. */
	if (!regtab_slot_only(member->tab, qp_num, slot)) {
		mem_cas64(slot->key, reserved, key_next(reserved, SLOT_FREE, 0, -1));
		return false;
	}
	mem_or64(slot_word(slot, member->index), member_bit(member->index));
	if (mem_cas64(slot->key, reserved, key_next(reserved, state, qp_num, (int)member->index)))
		return true;
	retreat(member, slot);				/* revoked by another who enters the same number */
	return false;
}

/* One segment more than were found full: of many that find them so at once, the first grows the table. */
static int add_room(struct regtab *tab, unsigned full_segments)
{
	int error;

	pthread_mutex_lock(&tab->mutex);
	error = regtab_grow(tab, (struct shape){ full_segments + 1, 1 });
	pthread_mutex_unlock(&tab->mutex);
	return error;
}

/* 0, or -EAGAIN: somebody else was there first. */
static int make_entry(struct regtab_member *member, uint32_t qp_num, enum slot_state state)
{
	unsigned segments = regtab_shape(member->tab).segments;
	struct slot slot;
	uint64_t key;
	int error;

	if (regtab_slot_free(member->tab, qp_num, &slot, &key))
		return occupy(member, &slot, key, qp_num, state) ? 0 : -EAGAIN;
	error = add_room(member->tab, segments);
	return error ? error : -EAGAIN;
}

static int add_entry(struct regtab_member *member, uint32_t qp_num, enum slot_state state)
{
	int error = -EAGAIN;
	struct slot slot;
	uint64_t key;

	for (int i = 0; i < RETRIES_MAX && error == -EAGAIN; i++) {
		if (!regtab_slot_find(member->tab, qp_num, &slot, &key))
			error = make_entry(member, qp_num, state);
		else if (take_over(member, &slot, key, state))
			error = 0;
	}
	return error;
}

/*
 * Locks are lost when something in the process closes a descriptor of the file. Adding is rare and goes with creating a
 * QP, so it pays for finding out: taking a lock that one has does nothing, and fails if others already buried us.
 */
static int hold_locks(struct regtab_member *member)
{
	struct regtab *tab = member->tab;
	int error = 0;

	if (tab->private)
		return 0;
	pthread_mutex_lock(&tab->mutex);
	if (regtab_lock(tab->file.fd, F_WRLCK, LOCK_MEMBER(member->index)) ||
	    regtab_lock(tab->file.fd, F_RDLCK, LOCK_PRESENCE))
		error = -ESTALE;
	pthread_mutex_unlock(&tab->mutex);
	return error ? error : regtab_member_check(member);
}

int regtab_add(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier carrier)
{
	int error = regtab_member_check(member);

	if (error)
		return error;
	if (!qp_num || qp_num > KEY_QPN_MASK)
		return -EINVAL;
	pthread_mutex_lock(&member->mutex);
	error = hold_locks(member);
	if (!error && carrier == REGTAB_BY_OWNER)
		error = regtab_mail_prepare(member);
	if (!error)
		error = add_entry(member, qp_num, carrier == REGTAB_BY_OWNER ? SLOT_OWNED : SLOT_KERNEL);
	pthread_mutex_unlock(&member->mutex);
	return error;
}

/* ---- who is alive ---- */

/*
 * For so long one that was found alive is taken for it: a program that unregisters all it has asks once, not each time,
 * and a registrant's end, of which others learn by many times this, is not missed.
 */
#define PROOF_NS 20000

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Somebody else than this process's own members. Member's mutex held. */
static bool is_proven(const struct regtab_member *member, unsigned other)
{
	const struct proof *proof = &member->proof;

	return proof->ns && proof->member == other && member_is_alive(member->tab, other) &&
	       mem_load32(&member->tab->records[other].epoch) == proof->epoch && now_ns() - proof->ns < PROOF_NS;
}

/* Member's mutex held. */
static bool prove(struct regtab_member *member, unsigned other)
{
	struct proof proof = { other, mem_load32(&member->tab->records[other].epoch), now_ns() };

	if (!regtab_member_lives(member->tab, other))
		return false;
	member->proof = proof;
	return true;
}

/* ---- registering ---- */

/* 0 if the entry's QP lives, as far as the table and the kernel know. Reaps an owner that is found dead. */
static int entry_usable(struct regtab_member *member, uint64_t key)
{
	struct regtab *tab = member->tab;
	int owner = key_owner(key);

	switch (key_state(key)) {
	case SLOT_KERNEL:
		return 0;
	case SLOT_OWNED:
		if (owner >= 0 && member_is_alive(tab, (unsigned)owner)) {
			if (is_proven(member, (unsigned)owner) || prove(member, (unsigned)owner))
				return 0;
			regtab_member_reap(tab, (unsigned)owner);
		}
		return -EOWNERDEAD;
	case SLOT_LOST:
		return -EOWNERDEAD;
	default:
		return -EINVAL;
	}
}

/* -EAGAIN: the entry changed meanwhile. */
static int register_entry(struct regtab_member *member, const struct slot *slot, uint64_t key)
{
	word64 *word = slot_word(slot, member->index);
	uint64_t bit = member_bit(member->index);
	int error = entry_usable(member, key);

	if (error)
		return error;
	if (mem_load64(word) & bit)
		return 0;
	mem_or64(word, bit);				/* crash: a dead member's bit */
	if (mem_cas64(slot->key, key, key_again(key)))
		return 0;				/* crash: a dead member's registration */
	/* Another registered with it meanwhile, or it ended: look again from the start. */
	retreat(member, slot);
	return -EAGAIN;
}

static int enter_entry(struct regtab_member *member, uint32_t qp_num)
{
	int error = -EAGAIN;
	struct slot slot;
	uint64_t key;

	for (int i = 0; i < RETRIES_MAX && error == -EAGAIN; i++) {
		if (!regtab_slot_find(member->tab, qp_num, &slot, &key))
			error = make_entry(member, qp_num, SLOT_KERNEL);
		else if (key_state(key) == SLOT_KERNEL)
			error = register_entry(member, &slot, key);
		else if (take_over(member, &slot, key, SLOT_KERNEL))
			error = 0;
	}
	return error;
}

int regtab_enter(struct regtab_member *member, uint32_t qp_num)
{
	int error = regtab_member_check(member);

	if (error)
		return error;
	if (!qp_num || qp_num > KEY_QPN_MASK)
		return -EINVAL;
	pthread_mutex_lock(&member->mutex);
	error = hold_locks(member);
	if (!error)
		error = enter_entry(member, qp_num);
	pthread_mutex_unlock(&member->mutex);
	return error;
}

int regtab_register(struct regtab_member *member, uint32_t qp_num)
{
	int error = regtab_member_check(member);
	struct slot slot;
	uint64_t key;

	if (error)
		return error;
	pthread_mutex_lock(&member->mutex);
	error = -EAGAIN;
	for (int i = 0; i < RETRIES_MAX && error == -EAGAIN; i++)
		error = regtab_slot_find(member->tab, qp_num, &slot, &key) ? register_entry(member, &slot, key) : -EINVAL;
	pthread_mutex_unlock(&member->mutex);
	return error;
}

/* ---- unregistering ---- */

/* Bury the dead among those who seem registered, until one is found alive. Table's mutex held. */
static void bury_registrants(struct regtab_member *member, const struct slot *slot, uint64_t buried[PLANES_MAX])
{
	struct regtab *tab = member->tab;
	uint64_t words[PLANES_MAX];

	regtab_slot_registrants(tab, slot, words);
	for (unsigned p = 0; p < PLANES_MAX; p++) {
		for (uint64_t bits = words[p]; bits; bits &= bits - 1) {
			unsigned i = p * PLANE_MEMBERS + (unsigned)__builtin_ctzll(bits);

			if (prove(member, i) || !regtab_member_bury(tab, i))
				return;
			buried[p] |= member_bit(i);
		}
	}
}

static void clean_buried(struct regtab *tab, const uint64_t buried[PLANES_MAX])
{
	for (unsigned p = 0; p < PLANES_MAX; p++)
		for (uint64_t bits = buried[p]; bits; bits &= bits - 1)
			regtab_member_clean(tab, p * PLANE_MEMBERS + (unsigned)__builtin_ctzll(bits));
}

/* Whether somebody registered is of this process, or was found alive just now. */
static bool somebody_lives(struct regtab_member *member, const struct slot *slot)
{
	struct regtab *tab = member->tab;
	unsigned other = member->proof.member;
	uint64_t words[PLANES_MAX];

	if (!regtab_slot_registrants(tab, slot, words))
		return false;
	for (unsigned p = 0; p < PLANES_MAX; p++)
		if (words[p] & __atomic_load_n(&tab->local[p], __ATOMIC_ACQUIRE))
			return true;
	return words[other / PLANE_MEMBERS] & member_bit(other) && is_proven(member, other);
}

/* The entry is settled before the dead are cleaned away, so that the caller, not the sweep, sees it end. */
static bool settle_without_dead(struct regtab_member *member, const struct slot *slot)
{
	struct regtab *tab = member->tab;
	uint64_t buried[PLANES_MAX] = { 0 };
	enum settled settled;

	if (somebody_lives(member, slot))
		return false;
	pthread_mutex_lock(&tab->mutex);
	bury_registrants(member, slot, buried);
	settled = regtab_slot_settle(tab, slot, (int)member->index);
	clean_buried(tab, buried);
	pthread_mutex_unlock(&tab->mutex);
	return settled != SETTLED_NOT;
}

static int unregister_entry(struct regtab_member *member, const struct slot *slot, uint64_t key, bool *last)
{
	uint64_t bit = member_bit(member->index);
	word64 *word = slot_word(slot, member->index);
	bool ended;

	if (key_state(key) == SLOT_RETIRED || !(mem_load64(word) & bit))
		return -EINVAL;
	/* Crash after: if it was the last, an entry without bits; the sweep after us ends it. */
	if (!(mem_and64(word, ~bit) & bit))
		return -EINVAL;
	ended = regtab_slot_settle(member->tab, slot, (int)member->index) != SETTLED_NOT;
	if (!ended && last)
		ended = settle_without_dead(member, slot);
	if (last)
		*last = ended;
	return 0;
}

int regtab_unregister(struct regtab_member *member, uint32_t qp_num, bool *last)
{
	int error = regtab_member_check(member);
	struct slot slot;
	uint64_t key;

	if (error)
		return error;
	pthread_mutex_lock(&member->mutex);
	error = -EINVAL;
	if (regtab_slot_find(member->tab, qp_num, &slot, &key))
		error = unregister_entry(member, &slot, key, last);
	pthread_mutex_unlock(&member->mutex);
	return error;
}

/* ---- asking ---- */

int regtab_knows(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier *carrier, bool *mine)
{
	int error = regtab_member_check(member);
	struct slot slot;
	uint64_t key;

	if (error)
		return error;
	if (!regtab_slot_find(member->tab, qp_num, &slot, &key))
		return -EINVAL;
	pthread_mutex_lock(&member->mutex);
	error = entry_usable(member, key);
	pthread_mutex_unlock(&member->mutex);
	if (error)
		return error;
	if (carrier)
		*carrier = key_state(key) == SLOT_OWNED ? REGTAB_BY_OWNER : REGTAB_BY_KERNEL;
	if (mine)
		*mine = key_owner(key) == (int)member->index;
	return 0;
}

bool regtab_is_registered(struct regtab_member *member, uint32_t qp_num)
{
	struct slot slot;
	uint64_t key;

	return !regtab_member_check(member) && regtab_slot_find(member->tab, qp_num, &slot, &key) &&
	       key_state(key) != SLOT_RETIRED &&
	       mem_load64(slot_word(&slot, member->index)) & member_bit(member->index);
}

int regtab_count(struct regtab *tab, uint32_t qp_num)
{
	uint64_t words[PLANES_MAX];
	struct slot slot;
	uint64_t key;
	int count = 0;

	if (!regtab_is_mine(tab))
		return -ECHILD;
	if (!regtab_slot_find(tab, qp_num, &slot, &key))
		return -EINVAL;
	regtab_slot_registrants(tab, &slot, words);
	for (unsigned p = 0; p < PLANES_MAX; p++) {
		for (uint64_t bits = words[p]; bits; bits &= bits - 1) {
			unsigned i = p * PLANE_MEMBERS + (unsigned)__builtin_ctzll(bits);

			if (regtab_member_lives(tab, i))
				count++;
			else
				regtab_member_reap(tab, i);
		}
	}
	if (!count)
		regtab_slot_settle(tab, &slot, -1);	/* its last registrant died before it could */
	return count ? count : -EINVAL;
}

struct member_walk {
	struct regtab_member *member;
	int count;
};

static int count_slot(void *context, struct slot *slot, uint64_t key)
{
	struct member_walk *walk = context;

	if (key_is_entry(key) && mem_load64(slot_word(slot, walk->member->index)) & member_bit(walk->member->index))
		walk->count++;
	return 0;
}

int regtab_member_count(struct regtab_member *member)
{
	struct member_walk walk = { member, 0 };
	int error = regtab_member_check(member);

	if (error)
		return error;
	regtab_slot_each(member->tab, count_slot, &walk);
	return walk.count;
}
