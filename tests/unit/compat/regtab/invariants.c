/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What must hold of a table when nobody is in the middle of a change and dead members have been found. */

#include <stdio.h>
#include <stdlib.h>

#include <compat/regtab/tab.h>

#include "invariants.h"

struct walk {
	struct regtab *tab;
	uint8_t *pages;		/* met */
	uint16_t *owners;	/* of each QP, + 1 */
	char text[160];
};

static bool broken(struct walk *walk, unsigned member, uint32_t qp_num, const char *what)
{
	snprintf(walk->text, sizeof(walk->text), "member %u, QP 0x%x: %s", member, qp_num, what);
	return true;
}

static bool bad_page(struct walk *walk, unsigned member, unsigned page)
{
	if (!page)
		return false;
	if (page >= walk->tab->header->pages)
		return broken(walk, member, 0, "a page that was not handed out");
	return walk->pages[page]++ ? broken(walk, member, 0, "a page in two places") : false;
}

/* Dead rows count, too: their pages go to the next member with that number. */
static bool bad_pages(struct walk *walk, unsigned member)
{
	const struct member_row *row = regtab_row(walk->tab, member);

	if (bad_page(walk, member, walk->tab->header->rows[member]))
		return true;
	for (unsigned n = 0; row && n < ROW_MAPS * RANGES; n++)
		if (bad_page(walk, member, row->maps[n / RANGES][n % RANGES]))
			return true;
	return false;
}

static bool bad_owned(struct walk *walk, unsigned member)
{
	struct regtab *tab = walk->tab;

	for (uint32_t qp_num = 0; (qp_num = regtab_row_next(tab, member, ROW_OWNED, qp_num)); qp_num++) {
		bool owner = regtab_row_has(tab, member, ROW_CREATED, qp_num);

		if (!owner && !regtab_row_has(tab, member, ROW_REGISTERED, qp_num))
			return broken(walk, member, qp_num, "of an owner, but neither owner nor registered");
		if (owner && walk->owners[qp_num])
			return broken(walk, member, qp_num, "two owners");
		if (owner)
			walk->owners[qp_num] = (uint16_t)(member + 1);
	}
	return false;
}

const char *invariants_broken(struct regtab *tab)
{
	static struct walk walk;
	bool bad = false;

	walk = (struct walk){ .tab = tab, .pages = calloc(PAGES_MAX, 1), .owners = calloc(1 << 24, sizeof(uint16_t)) };
	for (unsigned i = 0; i < REGTAB_MEMBERS_MAX && !bad; i++)
		bad = bad_pages(&walk, i);
	for (int i = 0; !bad && (i = regtab_next_alive(tab, (unsigned)i)) >= 0; i++)
		bad = bad_owned(&walk, (unsigned)i);
	free(walk.pages);
	free(walk.owners);
	return bad ? walk.text : NULL;
}
