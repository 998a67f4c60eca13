/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A table as one process has it: the mapping, which of the members are its own, and the rows of all.
 *
 * Each member has a row, and in it a bit for each QP number and each of enum row_map. A member writes its own row and no
 * other, with one exception: who creates a QP clears what others have under its number. A row counts only while its
 * member's bit in header->alive is set, and is emptied before that is set again. So a process that is killed between any
 * two stores leaves a row that does not count any more, whatever was in it; one that is stopped leaves a row that says
 * what it said; and neither holds anybody up, for nobody waits for anything.
 *
 * What two processes must agree on is only whether a QP that its owner keeps still is to be had, and that takes no lock:
 *
 *   registering:  set "registered"; then look whether the owner's "created" is set; if not, take it back.
 *   ending:       if nobody is registered, clear "created"; then look whether somebody is registered; if so, set it again.
 *
 * Each stores before it looks, so at least one sees the other. If both do, the QP stays for the owner's next look.
 *
 * Locks of the process, in the order in which they are taken: the registry's (open, close), a member's (its own
 * registrations: so that a member does one thing at a time), a table's (join, leave, telling the dead: record locks do
 * not exclude threads of one process from each other). None of them lies in shared memory and none is held while another
 * process is waited for, except the registry's for up to 4 s in regtab_open().
 */
#ifndef COMPAT_REGTAB_TAB_H
#define COMPAT_REGTAB_TAB_H

#include <errno.h>
#include <pthread.h>

#include "file.h"
#include "layout.h"

struct regtab {
	struct regtab *next;		/* in the registry */
	uint32_t process;		/* registry's serial: tells the opener from its forked children */
	unsigned references;
	struct table_file file;
	struct table_header *header;	/* mapping of PAGES_MAX pages; only those in the file may be touched */
	uint32_t seen;			/* pages that the file was found to have */
	word64 local[MEMBER_WORDS];	/* members of this process */
	pthread_mutex_t mutex;
};

struct regtab_member {
	struct regtab *tab;
	unsigned index;
	uint32_t epoch;
	pthread_mutex_t mutex;
	/* Who was found alive last, and when: asking costs a system call. Member's mutex. */
	unsigned seen_alive;
	uint32_t seen_epoch;
	int64_t seen_ns;		/* of CLOCK_MONOTONIC; 0: nobody was */
};

/*
 * The tables that this process has open, in memory that the kernel empties in a forked child. So a child starts with no
 * tables and with an unlocked lock, whatever another thread of the parent was doing and however it was forked; fork
 * handlers would not run for every kind of clone.
 */
struct registry {
	pthread_mutex_t mutex;		/* all zero is an initialised mutex of glibc */
	uint32_t process;		/* 0: nothing opened since the fork */
	struct regtab *tables;
};

/** regtab_registry_lock - the registry, locked. NULL: no memory. */
struct registry *regtab_registry_lock(void);
void regtab_registry_unlock(struct registry *registry);

/**
 * regtab_file_of_process - descriptor with which this process has a file open as a table, or -1; never close it.
 * While the answer counts the registry stays locked: an other descriptor of the file, once it is open, must be closed
 * before this process locks the file as a table, for closing it would release the locks.
 */
int regtab_file_of_process(struct registry *registry, dev_t dev, ino_t ino);

/** regtab_is_mine - false in a child forked after the table was opened: it must not touch anything shared. */
bool regtab_is_mine(const struct regtab *tab);

/* ---- pages ---- */

/** regtab_page_is_there - whether the file has a page that was not seen yet. */
bool regtab_page_is_there(struct regtab *tab, unsigned page);

/** regtab_page_new - hand out one more page, zeroed and reserved: its number, -ENOMEM at the maximum, or -ENOSPC. */
int regtab_page_new(struct regtab *tab);

/** regtab_page - a page of the table, or NULL: none, or not in the file, whatever the table says. */
static inline void *regtab_page(struct regtab *tab, unsigned page)
{
	if (!page || (page >= __atomic_load_n(&tab->seen, __ATOMIC_ACQUIRE) && !regtab_page_is_there(tab, page)))
		return NULL;
	return (char *)tab->header + (size_t)page * REGTAB_PAGE;
}

/* ---- members ---- */

static inline uint64_t member_bit(unsigned member)
{
	return UINT64_C(1) << member % 64;
}

static inline bool member_is_alive(struct regtab *tab, unsigned member)
{
	return mem_load(&tab->header->alive[member / 64]) & member_bit(member);
}

static inline bool member_is_local(struct regtab *tab, unsigned member)
{
	return __atomic_load_n(&tab->local[member / 64], __ATOMIC_ACQUIRE) & member_bit(member);
}

/** regtab_next_alive - the first member from this number on whose row counts, or -1. */
int regtab_next_alive(struct regtab *tab, unsigned member);

/**
 * regtab_member_lives - whether a member's process does: one system call, unless it is this one. The row of one that is
 * found dead does not count from then on.
 */
bool regtab_member_lives(struct regtab *tab, unsigned member);

/** regtab_member_hold - make sure that the member still has its locks. -ESTALE. */
int regtab_member_hold(struct regtab_member *member);

/* ---- rows ---- */

/** regtab_row - of a member; NULL: it never had one. */
struct member_row *regtab_row(struct regtab *tab, unsigned member);

/** regtab_row_has - whether the bit of a QP is set, in the row of a member dead or alive. */
bool regtab_row_has(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);

/** regtab_row_set - -ENOMEM, -ENOSPC: there is no room for more of them. */
int regtab_row_set(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);
void regtab_row_clear(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);

/** regtab_row_prepare - *row: the emptied row of a member that is about to be alive; its lock is held. As above. */
int regtab_row_prepare(struct regtab *tab, unsigned member, struct member_row **row);

/** regtab_row_next - the first QP number from qp_num on that has a bit, or 0. */
uint32_t regtab_row_next(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);

#endif
