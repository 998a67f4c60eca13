/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tables from a number (QP number, SRQ number, key index, handle) to what it names. */
#ifndef SOFTHCA_NUMTAB_H
#define SOFTHCA_NUMTAB_H

#include <stdint.h>

/*
 * Numbers are given out in rising order and used again only after a whole turn, as the drivers'
 * bitmaps do: two objects made one after the other have neighbouring numbers, and a stale number
 * does not soon mean something else.
 */
struct numtab {
	void **slot;
	uint32_t first, limit; /* numbers first..limit-1 */
	uint32_t next;
	uint32_t used;
	uint32_t quota; /* how many may be in use at once */
	struct numtab *twin; /* shares the sequence: no number is in both; NULL = none */
};

/* 0 or -ENOMEM. @start = the first number that is tried. */
int numtab_init(struct numtab *tab, uint32_t first, uint32_t limit, uint32_t start, uint32_t quota);
void numtab_free(struct numtab *tab);

/* Lets two fresh tables of the same range give out their numbers in one sequence. */
void numtab_pair(struct numtab *tab, struct numtab *twin);

/* Gives @what the next free number. 0, or -ENOMEM as in the kernel if all are taken. */
int numtab_add(struct numtab *tab, void *what, uint32_t *number);
void numtab_remove(struct numtab *tab, uint32_t number);

/* NULL when the number is free or out of range. */
void *numtab_find(const struct numtab *tab, uint32_t number);

#endif
