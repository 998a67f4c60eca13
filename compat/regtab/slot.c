/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Entries of the table.
 *
 * An entry is a key (QP number, creator, state, sequence number: one word) and one registration bit per member. A bit
 * counts only while its member's bit in header->alive is set; a member number is given to a new member only after all
 * bits of the old one are cleared. So the death of a member is one store, whatever it was registered with, and a bit
 * that a killed process left is never anybody else's.
 *
 * Registering:    read the key; set the bit;   swap the key for its successor (same entry, next sequence number).
 * Unregistering:  clear the bit; read the key; read all bits; if none counts, swap the key for "free" or "retired".
 *
 * Whichever swap comes first makes the other fail: a registration that has succeeded is seen by whoever wants to end the
 * entry, and an entry that has ended lets nobody in. Whose swap failed begins again; a registrant that finds another
 * entry or none takes its bit back and settles what it may have kept alive meanwhile.
 *
 * A process that dies between any two of these stores leaves a bit, or an entry without bits. Its member number is then
 * swept before anybody else gets it: bits are cleared, entries without bits are ended. One that is stopped leaves the
 * same and holds nobody up. There is nothing to repair, because nothing is stored twice.
 *
 * An entry is made by reserving a free slot, looking that no other slot has the number (regtab_slot_only()), setting the
 * bit and making it an entry, which therefore never is without its maker's bit. A reservation of the dead is swept.
 *
 * One thing is not exact: a registrant that is overtaken, between finding an entry and setting its bit, by the end of
 * that entry and a new one in the same slot, is counted there until it has noticed, some nanoseconds of its own later.
 */

#include "mail.h"
#include "slot.h"

/* Fibonacci hashing: even for the ascending numbers, with whatever stride, that HCAs give out. */
static uint32_t hash_of(uint32_t qp_num)
{
	return qp_num * 2654435769u;
}

struct bucket {
	struct slot first;
	unsigned start;		/* where in the bucket to begin */
};

static struct bucket bucket_of(struct regtab *tab, unsigned segment, uint32_t hash)
{
	unsigned bits = 5 + 2 * segment;	/* log2 of its buckets */
	struct bucket bucket;

	bucket.first = slot_at(tab, segment, (hash >> (32 - bits)) * BUCKET_SLOTS);
	bucket.start = (hash >> (28 - bits)) % BUCKET_SLOTS;
	return bucket;
}

static struct slot bucket_slot(const struct bucket *bucket, unsigned n)
{
	unsigned index = (bucket->start + n) % BUCKET_SLOTS;

	return (struct slot){ bucket->first.key + index, bucket->first.planes + index, bucket->first.stride };
}

/* A slot that was never used ends the search: entries are put in the first free one and no slot becomes "never used". */
bool regtab_slot_find(struct regtab *tab, uint32_t qp_num, struct slot *slot, uint64_t *key)
{
	unsigned segments = regtab_shape(tab).segments;
	uint32_t hash = hash_of(qp_num);

	while (segments--) {	/* the largest first: it holds most */
		struct bucket bucket = bucket_of(tab, segments, hash);

		for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
			unsigned index = (bucket.start + i) % BUCKET_SLOTS;
			uint64_t k = mem_load64(bucket.first.key + index);

			if (!k)
				break;
			if (key_qp_num(k) != qp_num || !key_is_entry(k))
				continue;
			*slot = bucket_slot(&bucket, i);
			*key = k;
			return true;
		}
	}
	return false;
}

bool regtab_slot_free(struct regtab *tab, uint32_t qp_num, struct slot *slot, uint64_t *key)
{
	unsigned segments = regtab_shape(tab).segments;
	uint32_t hash = hash_of(qp_num);

	while (segments--) {
		struct bucket bucket = bucket_of(tab, segments, hash);

		for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
			struct slot candidate = bucket_slot(&bucket, i);
			uint64_t k = mem_load64(candidate.key);

			if (key_state(k) != SLOT_FREE)
				continue;
			*slot = candidate;
			*key = k;
			return true;
		}
	}
	return false;
}

/*
 * Two slots for one number: each creator reserves, then looks. So the later of two reservations sees the earlier one, and
 * either revokes it, whose swap to an entry then fails, or finds it an entry and gives up its own.
 */
bool regtab_slot_only(struct regtab *tab, uint32_t qp_num, const struct slot *slot)
{
	unsigned segments = regtab_shape(tab).segments;
	uint32_t hash = hash_of(qp_num);

	while (segments--) {
		struct bucket bucket = bucket_of(tab, segments, hash);

		for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
			word64 *other = bucket.first.key + i;
			uint64_t k = mem_load64(other);

			if (other == slot->key || key_qp_num(k) != qp_num || key_state(k) == SLOT_FREE)
				continue;
			if (key_is_entry(k) || !mem_cas64(other, k, key_next(k, SLOT_FREE, 0, -1)))
				return false;
		}
	}
	return true;
}

bool regtab_slot_registrants(struct regtab *tab, const struct slot *slot, uint64_t words[PLANES_MAX])
{
	unsigned planes = regtab_shape(tab).planes;
	uint64_t any = 0;

	for (unsigned p = 0; p < PLANES_MAX; p++) {
		words[p] = 0;
		if (p < planes)
			words[p] = mem_load64(slot->planes + p * slot->stride);
		if (words[p])
			words[p] &= mem_load64(&tab->header->alive[p]);
		any |= words[p];
	}
	return any;
}

static bool anybody(struct regtab *tab, const struct slot *slot)
{
	unsigned planes = regtab_shape(tab).planes;

	for (unsigned p = 0; p < planes; p++) {
		uint64_t word = mem_load64(slot->planes + p * slot->stride);

		if (word && word & mem_load64(&tab->header->alive[p]))
			return true;
	}
	return false;
}

/* What becomes of an entry that nobody is registered with. */
static enum slot_state end_state(struct regtab *tab, uint64_t key, int self)
{
	int owner = key_owner(key);

	if (key_state(key) != SLOT_OWNED || owner == self || owner < 0 || !member_is_alive(tab, (unsigned)owner))
		return SLOT_FREE;
	return SLOT_RETIRED;
}

enum settled regtab_slot_settle(struct regtab *tab, const struct slot *slot, int self)
{
	for (int i = 0; i < RETRIES_MAX; i++) {
		uint64_t key = mem_load64(slot->key);
		enum slot_state state = key_state(key), end;

		/* The bits are read after the key: a registration that is not seen here has not swapped it yet. */
		if (!key_is_entry(key) || state == SLOT_RETIRED || anybody(tab, slot))
			return SETTLED_NOT;
		end = end_state(tab, key, self);
		if (end == SLOT_FREE) {
			/* Crash before: an entry without bits, ended by the sweep after us. After: done. */
			if (mem_cas64(slot->key, key, key_next(key, SLOT_FREE, 0, -1)))
				return SETTLED_ENDED;
			continue;
		}
		/* Crash after: the owner finds it when its wait times out. */
		if (mem_cas64(slot->key, key, key_next(key, SLOT_RETIRED, key_qp_num(key), key_owner(key)))) {
			regtab_mail_retired(tab, (unsigned)key_owner(key));
			return SETTLED_TOLD;
		}
	}
	return SETTLED_NOT;
}

int regtab_slot_each(struct regtab *tab, int (*visit)(void *context, struct slot *slot, uint64_t key), void *context)
{
	unsigned segments = regtab_shape(tab).segments;
	int result = 0;

	for (unsigned s = 0; s < segments; s++) {
		struct slot slot = slot_at(tab, s, 0);

		for (uint32_t i = 0; i < segment_slots(s) && !result; i++, slot.key++, slot.planes++)
			result = visit(context, &slot, mem_load64(slot.key));
	}
	return result;
}

/* The creator of an entry is gone: what the kernel keeps stays, what the creator kept is lost. */
static void disown(const struct slot *slot, unsigned member)
{
	for (int i = 0; i < RETRIES_MAX; i++) {
		uint64_t key = mem_load64(slot->key), next;

		if (key_state(key) == SLOT_FREE || key_owner(key) != (int)member)
			return;
		if (key_state(key) == SLOT_KERNEL)
			next = key_next(key, SLOT_KERNEL, key_qp_num(key), -1);
		else if (key_state(key) == SLOT_OWNED)
			next = key_next(key, SLOT_LOST, key_qp_num(key), -1);
		else
			next = key_next(key, SLOT_FREE, 0, -1);
		if (mem_cas64(slot->key, key, next))	/* crash: the next sweep of this member goes on */
			return;
	}
}

struct sweep {
	struct regtab *tab;
	unsigned member;
	bool died;
};

static int sweep_slot(void *context, struct slot *slot, uint64_t key)
{
	struct sweep *sweep = context;
	word64 *word = slot_word(slot, sweep->member);
	uint64_t bit = member_bit(sweep->member);

	/* One that died may have cleared its bit and not yet ended the entry; of the living, somebody else is just at that. */
	bool concerned = sweep->died;

	if (mem_load64(word) & bit) {
		mem_and64(word, ~bit);		/* crash: does not count, as its member is not alive */
		concerned = true;
	}
	if (key_state(key) == SLOT_FREE)
		return 0;
	if (key_owner(key) == (int)sweep->member) {
		disown(slot, sweep->member);
		concerned = true;
	}
	if (concerned)
		regtab_slot_settle(sweep->tab, slot, -1);
	return 0;
}

void regtab_slot_sweep(struct regtab *tab, unsigned member, bool died)
{
	struct sweep sweep = { tab, member, died };

	regtab_slot_each(tab, sweep_slot, &sweep);
}
