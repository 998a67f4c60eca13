/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Snapshots of the registration tables of a directory. To take one changes and locks nothing. */
#ifndef TOOLS_TABLES_VIEW_H
#define TOOLS_TABLES_VIEW_H

#include <compat/regtab_file.h>

/* One file: a process that has the domain open on an opened device. */
struct regtab_view_member {
	char path[512];
	/*
	 * NULL; or why the file is refused: a sentence that names it. Such a file has no
	 * registrations, and no living process.
	 */
	char *reason;
	uint32_t uid;		/* the owner of the file */
	struct regtab_key key;	/* files with the same key are one table */
	uint32_t pid;		/* in its own pid namespace */
	uint64_t since;		/* when it opened the domain, in seconds of CLOCK_REALTIME */
	char command[17];
	bool live;		/* its process holds the lock */
	bool foreign;		/* its pid means nothing in the caller's pid namespace */
	unsigned registration_count;
	struct registration *registrations;	/* private to view.c, by QP number */
};

/* A snapshot of one table, or of one refused file. */
struct regtab_view {
	struct regtab_view_member *members;
	unsigned member_count;
};

struct regtab_view_qp {
	uint32_t qp_num;
	bool live;		/* a living process is registered; else the QP is gone */
	const struct regtab_view_member *creator;	/* NULL when gone */
	unsigned registrants;	/* members registered, live or stale */
};

/* The first QP from this number on that a member is registered with. False: there is none. */
bool regtab_view_next(const struct regtab_view *view, uint32_t from, struct regtab_view_qp *qp);

/* Whether members[member] is registered with this QP. */
bool regtab_view_registered(const struct regtab_view *view, uint32_t qp_num, unsigned member);

/*
 * Calls back with every table in dir, by user, device and inode, then with every refused file, by
 * name. A result other than 0 ends the walk and is returned. -errno: of the directory. Must not be
 * called in a process that has entries of its own (regtab_file.h).
 */
int regtab_list(const char *dir, int (*visit)(void *context, const struct regtab_view *view),
		void *context);

/* Calls back with every file that has the name of a table. @err: why the file is refused. */
int regtab_each(const char *dir, int flags,
		int (*visit)(void *context, struct regtab_found *found, int err), void *context);

#endif
