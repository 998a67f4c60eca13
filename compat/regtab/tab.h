/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A table as one process has it: the mapping, and which of the members are its own.
 *
 * Locks of the process, in the order in which they are taken: the registry's (open, close), a member's (its own
 * registrations: so that a member does one thing at a time), a table's (join, leave, reap, grow: record locks do not
 * exclude threads of one process from each other). None of them lies in shared memory and none is held while another
 * process is waited for, except the registry's for up to 2 s in regtab_open().
 */
#ifndef COMPAT_REGTAB_TAB_H
#define COMPAT_REGTAB_TAB_H

#include <errno.h>
#include <pthread.h>

#include "file.h"
#include "layout.h"

/* Bound of every retry against changes by others: only a hostile file reaches it. Each retry means another succeeded. */
#define RETRIES_MAX		100000

struct regtab {
	struct regtab *next;		/* in the registry */
	uint32_t process;		/* registry serial: tells the opener from its forked children */
	unsigned references;
	bool private;			/* no file: all members are of this process */
	struct table_file file;
	struct table_header *header;	/* mapping of everything before the segments */
	struct member_record *records;
	struct mailbox *mailboxes;
	word64 *segments[SEGMENTS_MAX];	/* keys; the planes follow. Set once. */
	uint32_t seen;			/* shape that is mapped here */
	word64 local[PLANES_MAX];	/* members of this process */
	pthread_mutex_t mutex;
};

/* Who was found alive last, and when: asking costs a system call. */
struct proof {
	unsigned member;
	uint32_t epoch;
	int64_t ns;			/* of CLOCK_MONOTONIC; 0: nobody was */
};

struct regtab_member {
	struct regtab *tab;
	unsigned index;
	struct proof proof;
	uint32_t epoch;
	bool serving;			/* its mailbox is prepared */
	uint32_t woken;			/* regtab_wake() */
	uint32_t retirements_seen;
	int64_t next_look;			/* ms of CLOCK_MONOTONIC: for registrants that died; regtab_serve() only */
	pthread_mutex_t mutex;
};

/** struct slot - where an entry is. Entries never move. */
struct slot {
	word64 *key;
	word64 *planes;			/* its word for members 0..63 */
	size_t stride;			/* words from plane to plane */
};

/** regtab_is_mine - false in a child forked after the table was opened: it must not touch anything shared. */
bool regtab_is_mine(const struct regtab *tab);

/** regtab_follow - map what another process has added. The old shape stays in use where the file does not hold it. */
void regtab_follow(struct regtab *tab);

/** regtab_grow - reserve, map and publish a larger shape. Table's mutex held. -ENOMEM: at the maximum; -ENOSPC. */
int regtab_grow(struct regtab *tab, struct shape wanted);

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

static inline struct shape regtab_shape(struct regtab *tab)
{
	if (mem_load32(&tab->header->shape) != __atomic_load_n(&tab->seen, __ATOMIC_ACQUIRE))
		regtab_follow(tab);
	return shape_of(__atomic_load_n(&tab->seen, __ATOMIC_ACQUIRE));
}

static inline struct slot slot_at(struct regtab *tab, unsigned segment, uint32_t index)
{
	word64 *keys = __atomic_load_n(&tab->segments[segment], __ATOMIC_ACQUIRE);
	size_t stride = segment_slots(segment);

	return (struct slot){ keys + index, keys + stride + index, stride };
}

static inline word64 *slot_word(const struct slot *slot, unsigned member)
{
	return slot->planes + slot->stride * (member / PLANE_MEMBERS);
}

static inline uint64_t member_bit(unsigned member)
{
	return UINT64_C(1) << member % PLANE_MEMBERS;
}

static inline bool member_is_alive(struct regtab *tab, unsigned member)
{
	return mem_load64(&tab->header->alive[member / PLANE_MEMBERS]) & member_bit(member);
}

static inline bool member_is_local(struct regtab *tab, unsigned member)
{
	return __atomic_load_n(&tab->local[member / PLANE_MEMBERS], __ATOMIC_ACQUIRE) & member_bit(member);
}

#endif
