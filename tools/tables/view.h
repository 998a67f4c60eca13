/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Registration tables as people see them: snapshots, which change and lock nothing. */
#ifndef TOOLS_TABLES_VIEW_H
#define TOOLS_TABLES_VIEW_H

#include <compat/regtab/regtab.h>

enum regtab_condition {
	REGTAB_IN_USE,		/* some process has it open */
	REGTAB_DEAD,		/* no process has: regtab_gc() removes it */
	REGTAB_REFUSED,		/* not ours, not readable, or damaged: see reason */
};

enum regtab_qp_state {
	REGTAB_QP_KERNEL,	/* kept by the kernel, for a live process that is registered */
	REGTAB_QP_OWNER,	/* kept by its owner, which lives */
	REGTAB_QP_RETIRED,	/* kept by its owner, but no live process is registered: about to be destroyed */
	REGTAB_QP_LOST,		/* gone with its owner, or with the last process; registrations remain */
};

struct regtab_view_member {
	unsigned index;		/* in the table */
	uint32_t pid;		/* in its own pid namespace */
	uint64_t pid_namespace;	/* inode of /proc/PID/ns/pid, 0 unknown */
	uint64_t since;		/* of joining, seconds of CLOCK_REALTIME */
	char command[17];
	char label[REGTAB_LABEL_SIZE + 1];
	bool live;		/* holds its lock */
	bool foreign;		/* its pid means nothing in the caller's pid namespace */
};

struct regtab_view_qp {
	uint32_t qp_num;
	enum regtab_qp_state state;
	int creator;		/* index in regtab_view.members, -1 when gone */
	unsigned registrants;	/* members registered, live or stale */
};

/** struct regtab_view - a snapshot of one file of a directory. Members and QPs only when not refused. */
struct regtab_view {
	const char *path;
	enum regtab_condition condition;
	struct regtab_error reason;
	struct regtab_key key;
	uint32_t uid;		/* of the file */
	uint64_t created;	/* seconds of CLOCK_REALTIME */
	uint64_t bytes;		/* of memory used */
	struct regtab_view_member *members;
	unsigned member_count;
	struct regtab_view_qp *qps;
	unsigned qp_count;
	void *snapshot;		/* private to regtab_view_registered() */
};

/**
 * regtab_list - call back with a snapshot of every table in dir, sorted by file name. Changes and locks nothing.
 * The view is valid during the call. A return value other than 0 ends the walk and is returned.
 */
int regtab_list(const char *dir, int (*visit)(void *context, const struct regtab_view *view), void *context);

/** regtab_view_registered - whether members[member] is registered with qps[qp]. */
bool regtab_view_registered(const struct regtab_view *view, unsigned qp, unsigned member);

#endif
