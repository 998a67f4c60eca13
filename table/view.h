/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Snapshots of the registration tables of all processes. To take one changes and locks nothing. */
#ifndef TABLE_VIEW_H
#define TABLE_VIEW_H

#include "layout.h"

#include <stdbool.h>
#include <sys/types.h>

struct registration;

/*
 * One opened device of a process that has a domain open there. If @reason is set, the process could
 * not be read.
 */
struct regtab_view_member {
	pid_t pid;		/* in the caller's pid namespace */
	uint32_t inner_pid;	/* in its own pid namespace */
	uid_t uid;		/* effective */
	char command[17];	/* as in /proc/PID/comm */
	char path[64];		/* of the table, "/proc/PID/fd/N", or of what cannot be read */
	/* NULL; or why the table, or the process, is not read. Then the members below are 0. */
	const char *reason;
	bool unread; /* with a reason: nobody knows whether it has a table */
	struct regtab_key key;	/* members of the same user with the same key are one table */
	uint64_t since;		/* when it opened the domain, in seconds of CLOCK_REALTIME */
	/* Registrations of the process that its table does not have; 0 in its other members. */
	unsigned missing;
	unsigned registration_count;
	struct registration *registrations;	/* private to view.c, by QP number */
};

/* The members of one table, or one member with a reason. regtab_read() gives all tables. */
struct regtab_view {
	struct regtab_view_member *members;
	unsigned member_count;
};

struct regtab_view_qp {
	uint32_t qp_num;
	const struct regtab_view_member *creator;	/* NULL when gone */
	unsigned registrants;
};

/* The first QP from this number on that a member is registered with. False: there is none. */
bool regtab_view_next_qp(const struct regtab_view *view, uint32_t from, struct regtab_view_qp *qp);

/* Whether members[member] is registered with this QP. */
bool regtab_view_registered(const struct regtab_view *view, uint32_t qp_num, unsigned member);

/*
 * Fills @all with the members of every table, by user, device and inode; then with every table that
 * is refused; then with every process of the caller's user whose descriptors the kernel does not
 * show. regtab_free() frees them. -errno, and no member: /proc cannot be read, or memory (-ENOMEM)
 * or descriptors (-EMFILE, -ENFILE) ran out.
 */
int regtab_read(struct regtab_view *all);
void regtab_free(struct regtab_view *all);

/* Makes @table the next table of @all; the first one if @table is empty. False: it was the last. */
bool regtab_view_next_table(const struct regtab_view *all, struct regtab_view *table);

#endif
