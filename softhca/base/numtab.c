// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Tables from a number to what it names. */
#include "numtab.h"

#include <errno.h>
#include <stdlib.h>

int numtab_init(struct numtab *tab, uint32_t first, uint32_t limit, uint32_t start, uint32_t quota)
{
	tab->slot = calloc(limit - first, sizeof(void *));
	if (!tab->slot)
		return -ENOMEM;
	tab->first = first;
	tab->limit = limit;
	tab->next = start;
	tab->used = 0;
	tab->quota = quota;
	return 0;
}

void numtab_free(struct numtab *tab)
{
	free(tab->slot);
	tab->slot = NULL;
}

static uint32_t after(const struct numtab *tab, uint32_t number)
{
	return number + 1 < tab->limit ? number + 1 : tab->first;
}

int numtab_add(struct numtab *tab, void *what, uint32_t *number)
{
	if (tab->used >= tab->quota || tab->used >= tab->limit - tab->first)
		return -ENOMEM;
	while (tab->slot[tab->next - tab->first])
		tab->next = after(tab, tab->next);
	*number = tab->next;
	tab->slot[*number - tab->first] = what;
	tab->next = after(tab, *number);
	tab->used++;
	return 0;
}

void numtab_remove(struct numtab *tab, uint32_t number)
{
	if (!numtab_find(tab, number))
		return;
	tab->slot[number - tab->first] = NULL;
	tab->used--;
}

void *numtab_find(const struct numtab *tab, uint32_t number)
{
	return number >= tab->first && number < tab->limit ? tab->slot[number - tab->first] : NULL;
}
