/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tables from a number to what it names. */
#include "numtab.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

static size_t size_of(const struct numtab *tab)
{
	return (tab->limit - tab->first) * sizeof(*tab->slot);
}

/*
 * The table is large, and most of its pages stay untouched: the kernel gives memory to those that
 * are written. calloc() may write all of them (MALLOC_PERTURB_).
 */
int numtab_init(struct numtab *tab, uint32_t first, uint32_t limit, uint32_t start, uint32_t quota)
{
	tab->first = first;
	tab->limit = limit;
	tab->slot = mmap(NULL, size_of(tab), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (tab->slot == MAP_FAILED) {
		tab->slot = NULL;
		return -ENOMEM;
	}
	tab->next = start;
	tab->used = 0;
	tab->quota = quota;
	tab->twin = NULL;
	return 0;
}

void numtab_free(struct numtab *tab)
{
	if (tab->slot)
		munmap(tab->slot, size_of(tab));
	tab->slot = NULL;
}

static uint32_t after(const struct numtab *tab, uint32_t number)
{
	return number + 1 < tab->limit ? number + 1 : tab->first;
}

void numtab_pair(struct numtab *tab, struct numtab *twin)
{
	tab->twin = twin;
	twin->twin = tab;
}

static bool taken(const struct numtab *tab, uint32_t number)
{
	return numtab_find(tab, number) || (tab->twin && numtab_find(tab->twin, number));
}

static bool full(const struct numtab *tab)
{
	return tab->used >= tab->quota ||
	       tab->used + (tab->twin ? tab->twin->used : 0) >= tab->limit - tab->first;
}

int numtab_add(struct numtab *tab, void *what, uint32_t *number)
{
	if (full(tab))
		return -ENOMEM;
	while (taken(tab, tab->next))
		tab->next = after(tab, tab->next);
	*number = tab->next;
	tab->slot[*number - tab->first] = what;
	tab->next = after(tab, *number);
	tab->used++;
	if (tab->twin)
		tab->twin->next = tab->next;
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
