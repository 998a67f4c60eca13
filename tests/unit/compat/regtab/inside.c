/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What only tests ask of a table. The answers come from its rows. */

#include <compat/regtab/tab.h>

#include "inside.h"

int regtab_reap(struct regtab *tab)
{
	int dead = 0;

	if (!regtab_is_mine(tab))
		return -ECHILD;
	for (int i = 0; (i = regtab_next_alive(tab, (unsigned)i)) >= 0; i++)
		dead += !regtab_member_lives(tab, (unsigned)i);
	return dead;
}

int regtab_count(struct regtab *tab, uint32_t qp_num)
{
	int count = 0;

	if (!regtab_is_mine(tab))
		return -ECHILD;
	for (int i = 0; (i = regtab_next_alive(tab, (unsigned)i)) >= 0; i++)
		count += regtab_row_has(tab, (unsigned)i, ROW_REGISTERED, qp_num) && regtab_member_lives(tab, (unsigned)i);
	return count ? count : -EINVAL;
}

int regtab_member_count(struct regtab_member *member)
{
	int count = 0, error = regtab_member_check(member);

	for (uint32_t qp_num = 0; !error; qp_num++, count++)
		if (!(qp_num = regtab_row_next(member->tab, member->index, ROW_REGISTERED, qp_num)))
			return count;
	return error;
}

int regtab_knows(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier *carrier, bool *mine)
{
	unsigned owner = REGTAB_MEMBERS_MAX;
	int error = regtab_owner(member, qp_num, &owner);

	if (error == -EINVAL && regtab_count(member->tab, qp_num) < 0)
		return error;
	if (error && error != -EINVAL)
		return error;
	if (carrier)
		*carrier = error ? REGTAB_BY_KERNEL : REGTAB_BY_OWNER;
	if (mine)
		*mine = owner == member->index;
	return 0;
}
