/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which processes are registered with which receive QPs of a domain: the shared table, as one opened device uses it.
 *
 * Where the kernel shares target QPs (ibv_open_qp: mlx4, mlx5, hns) it keeps them alive, and the table only lets people
 * see who is registered; it is best effort there. Where it does not (qedr), the table alone carries the registrations:
 * the creator's process keeps the QP until the last one anywhere is gone, and modifies and queries it for the others.
 */
#ifndef COMPAT_ROSTER_H
#define COMPAT_ROSTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <infiniband/verbs.h>

#include "regtab/regtab.h"

struct core;
struct owner;

/** enum roster_kind - what keeps a receive QP alive on this device; found out with the first one. */
enum roster_kind {
	ROSTER_UNKNOWN,
	ROSTER_KERNEL,
	ROSTER_OWNER,
};

struct roster {
	pthread_mutex_t opening;
	enum roster_kind kind;
	struct regtab *table;
	struct regtab_member *member;	/* NULL: not opened yet, or not to be had */
	int status;			/* of opening; 1 before the first try */
	struct owner *owner;
	bool serving, stop;
	pthread_t server;
	pid_t pid;			/* of the process that opened it: a forked child has none of this */
};

void roster_init(struct roster *roster);

/**
 * roster_open - open the table and join it, once. 0, or -errno: full, refused or absent directory (with a warning).
 * May block for a moment on the file system; no lock held.
 */
int roster_open(struct core *core);

/** roster_serve - be there for other processes (ROSTER_OWNER), once. 0 or -errno. */
int roster_serve(struct core *core);

/** roster_close - stop serving, leave and close the table. From the serving thread, it must end right after. No lock held. */
void roster_close(struct roster *roster);

#endif
