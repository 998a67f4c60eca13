/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The registration tables of a directory as people see them: snapshots, which change and lock
 * nothing.
 */
#ifndef TOOLS_TABLES_VIEW_H
#define TOOLS_TABLES_VIEW_H

#include <compat/regtab.h>

enum regtab_condition {
	REGTAB_IN_USE,		/* some process of it lives */
	REGTAB_DEAD,		/* none does: gc removes all its files */
	/* one file that is not ours, not readable, or damaged: see reason */
	REGTAB_REFUSED,
};

/** struct regtab_view_member - an opened device with the domain open, from its file. */
struct regtab_view_member {
	char path[512];		/* of its file */
	uint32_t uid;		/* of the file */
	uint64_t bytes;		/* of memory that the file takes */
	struct regtab_key key;	/* of its table */
	uint32_t pid;		/* in its own pid namespace */
	uint64_t pid_namespace;	/* inode of /proc/PID/ns/pid, 0 unknown */
	uint64_t since;		/* of opening the domain, seconds of CLOCK_REALTIME */
	char command[17];
	char label[REGTAB_LABEL_SIZE + 1];
	bool live;		/* its process holds the lock */
	bool foreign;		/* its pid means nothing in the caller's pid namespace */
	uint32_t **pages;	/* private to view.c */
};

struct regtab_view_qp {
	uint32_t qp_num;
	bool live;		/* a living process is registered; else the QP is gone */
	int creator;		/* index in regtab_view.members, -1 when gone */
	unsigned registrants;	/* members registered, live or stale */
};

/**
 * struct regtab_view - a snapshot of one table, or of one refused file. Members and QPs only when
 * not refused.
 */
struct regtab_view {
	enum regtab_condition condition;
	const char *path;	/* refused: of the file; else of the first member's */
	const char *reason;	/* refused: a sentence that names the file */
	struct regtab_key key;
	uint32_t uid;
	struct regtab_view_member *members;
	unsigned member_count;
	struct regtab_view_qp *qps;	/* by number */
	unsigned qp_count;
};

/**
 * regtab_list - call back with every table in dir, by user, device and inode, then with every
 * refused file, by name. The view is valid during the call. A return value other than 0 ends the
 * walk and is returned. -errno: the directory. Not in a process that has entries of its own
 * (regtab_file.h).
 */
int regtab_list(const char *dir, int (*visit)(void *context, const struct regtab_view *view),
		void *context);

/** regtab_view_registered - whether members[member] is registered with qps[qp]. */
bool regtab_view_registered(const struct regtab_view *view, unsigned qp, unsigned member);

#endif
