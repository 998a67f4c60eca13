/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The registration table of a domain, as one opened device uses it: opened when it is first needed, and opened again
 * when it could not be, or when somebody removed it.
 */
#ifndef COMPAT_TABLE_H
#define COMPAT_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <infiniband/verbs.h>

#include <compat/regtab/regtab.h>

struct membership;

struct table {
	struct ibv_context *context;
	bool shared;			/* the domain has an inode; false: it is this device's alone, and has no table */
	dev_t dev;
	ino_t ino;
	pthread_mutex_t opening;
	struct membership *current;	/* NULL: not opened yet, or not to be had */
	int err;			/* of the last try */
	int64_t retry_ns;		/* after an error, no other before this */
	int64_t look_ns;		/* no look whether it is still there before this */
	bool gone;			/* it was not */
};

/** table_init - of a domain (dev and ino when shared) in an opened device. */
void table_init(struct table *table, struct ibv_context *context, bool shared, dev_t dev, ino_t ino);

/**
 * table_join - *member: of the table, which is opened first if it is not. Looks once a second whether the table is still there
 * (table_is_gone()). May wait for the file system; no lock held.
 * -EINVAL: a private domain, which has no table. Another -errno that the contract knows: the table cannot be had; a warning
 * names the cause, and it is tried again at most once a second.
 */
int table_join(struct table *table, struct regtab_member **member);

/** table_member - the member if the table is open, else NULL. */
struct regtab_member *table_member(struct table *table);

/** table_is_gone - whether its file was removed, or the program closed its descriptor: noted, with a warning that says so. */
bool table_is_gone(struct table *table);

/** table_noted_gone - whether that was noted, and no new one joined since. */
static inline bool table_noted_gone(struct table *table)
{
	return __atomic_load_n(&table->gone, __ATOMIC_RELAXED);
}

/** table_join_again - leave a table that is gone and join a new one. The old member may still be used meanwhile. */
int table_join_again(struct table *table, struct regtab_member **member);

/** table_error - what an old program is told for err: EINVAL is itself, all else ENOMEM, with a warning. ENOSYS is the driver's to say. */
int table_error(const struct table *table, int err);

/** table_close - leave and close the table. No lock held. */
void table_close(struct table *table);

#endif
