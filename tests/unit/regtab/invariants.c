/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What must hold of a table when nobody is in the middle of anything and the dead are reaped. */

#include <stdio.h>
#include <stdlib.h>

#include <compat/regtab/slot.h>

#include "invariants.h"

struct walk {
	struct regtab *tab;
	uint8_t *known;		/* QP numbers met */
	char text[160];
};

static int broken(struct walk *walk, uint64_t key, const char *what)
{
	snprintf(walk->text, sizeof(walk->text), "QP 0x%x (state %d, owner %d): %s", key_qp_num(key), key_state(key),
		 key_owner(key), what);
	return 1;
}

static int check_slot(void *context, struct slot *slot, uint64_t key)
{
	struct walk *walk = context;
	uint64_t words[PLANES_MAX];
	uint32_t qp_num = key_qp_num(key);
	int owner = key_owner(key);
	bool anybody = regtab_slot_registrants(walk->tab, slot, words);
	struct slot found;
	uint64_t again;

	for (unsigned p = 0; p < regtab_shape(walk->tab).planes; p++)
		if (slot->planes[p * slot->stride] & ~walk->tab->header->alive[p])
			return broken(walk, key, "a bit of nobody");
	if (key_state(key) == SLOT_RESERVED)
		return broken(walk, key, "reserved");
	if (key_state(key) == SLOT_FREE)
		return anybody ? broken(walk, key, "a bit in a free slot") : 0;
	if (walk->known[qp_num]++)
		return broken(walk, key, "entered twice");
	if (!regtab_slot_find(walk->tab, qp_num, &found, &again) || found.key != slot->key)
		return broken(walk, key, "not found");
	if (key_state(key) != SLOT_RETIRED && !anybody)
		return broken(walk, key, "nobody is registered");
	if (owner >= 0 && !member_is_alive(walk->tab, (unsigned)owner))
		return broken(walk, key, "the owner is dead");
	if (owner < 0 && (key_state(key) == SLOT_OWNED || key_state(key) == SLOT_RETIRED))
		return broken(walk, key, "no owner");
	return 0;
}

const char *invariants_broken(struct regtab *tab)
{
	static struct walk walk;
	int bad;

	walk = (struct walk){ .tab = tab, .known = calloc(1 << 24, 1) };
	bad = regtab_slot_each(tab, check_slot, &walk);
	free(walk.known);
	return bad ? walk.text : NULL;
}
