/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Memory for rings and doorbell records that the program shares with the daemon. */
#ifndef SOFTHCA_RINGS_ARENA_H
#define SOFTHCA_RINGS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena_info {
	int fd; /* -1 = none */
	uint64_t pages;
};

/* This process' arena, made at the first call. */
struct arena_info arena_info(void);
/* Whether arena_alloc() shares memory from now on. What it has shared stays. */
void arena_enable(bool enabled);
/* As mmap(2): memory for a ring or for records, shared with the daemon if it can be. */
void *arena_alloc(size_t length);
/* The program is about to unmap this. */
void arena_unmapped(void *address, size_t length);
/*
 * Moves the page at this address, which the program goes on using, into the arena. False: the page
 * stays as it is, or is gone if the kernel had no memory for the mapping.
 */
bool arena_move_in(uint64_t page);
/* Moves a page without records out of the arena. */
void arena_move_out(uint64_t page);
/*
 * Called in a forked child: the pages that were moved in are the child's own. The child's first use
 * of the arena makes a new one.
 */
void arena_forked(void);

#endif
