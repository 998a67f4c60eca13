/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A table as one process has it: the mapping, and which of the members are its own.
 *
 * Locks of the process, in the order in which they are taken: the registry's (open, close), a member's (its own
 * registrations: so that a member does one thing at a time), a table's (join, leave, telling the dead: record locks do
 * not exclude threads of one process from each other). None of them lies in shared memory and none is held while another
 * process is waited for, except the registry's for up to 2 s in regtab_open().
 */
#ifndef COMPAT_REGTAB_TAB_H
#define COMPAT_REGTAB_TAB_H

#include <errno.h>
#include <pthread.h>

#include "file.h"
#include "layout.h"

struct regtab {
	struct regtab *next;		/* in the registry */
	uint32_t process;		/* registry serial: tells the opener from its forked children */
	unsigned references;
	bool private;			/* no file: all members are of this process */
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

/** regtab_is_mine - false in a child forked after the table was opened: it must not touch anything shared. */
bool regtab_is_mine(const struct regtab *tab);

/** regtab_page_is_there - whether the file has a page that was not seen yet. */
bool regtab_page_is_there(struct regtab *tab, unsigned page);

/** regtab_page_new - hand out one more page, zeroed and reserved: its number, -ENOMEM at the maximum, or -ENOSPC. */
int regtab_page_new(struct regtab *tab);

/** regtab_unref - drop a reference; the last one closes. */
void regtab_unref(struct regtab *tab);
void regtab_ref(struct regtab *tab);

/**
 * regtab_file_of_process - descriptor with which this process has a file open as a table, or -1; never close it.
 * While the answer counts the registry stays locked: an other descriptor of the file, once it is open, must be closed
 * before this process locks the file as a table.
 */
struct registry;
int regtab_file_of_process(struct registry *registry, dev_t dev, ino_t ino);

/** regtab_page - a page of the table, or NULL: none, or not in the file, whatever the table says. */
static inline void *regtab_page(struct regtab *tab, unsigned page)
{
	if (!page || (page >= __atomic_load_n(&tab->seen, __ATOMIC_ACQUIRE) && !regtab_page_is_there(tab, page)))
		return NULL;
	return (char *)tab->header + (size_t)page * REGTAB_PAGE;
}

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

#endif
