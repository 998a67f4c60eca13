/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which kind of program this is: whether it uses XRC, and in one direction or in both.
 *
 * One-way programs (Open MPI, MVAPICH2, GASNet) connect an XRC QP to a receive QP and only send on
 * it. Two-way programs (qperf, MVAPICH 1.x) connect XRC QPs to one another and send both ways. The
 * order of calls does not tell which, because one-way programs create the sending QP first. The
 * functions that a program refers to do tell: without ibv_create_xrc_rcv_qp and ibv_reg_xrc_rcv_qp
 * it has no receive QPs.
 *
 * The loaded objects are searched when the process starts, and if a plugin brings XRC, when it
 * opens the first domain. No other verb searches them: the loader's lock would stay taken if a
 * signal handler left the verb by siglongjmp(3).
 */
#ifndef TWO_WAY_PROGRAM_H
#define TWO_WAY_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>

enum program_kind {
	PROGRAM_UNKNOWN, /* no verb so far, and no XRC */
	PROGRAM_ORDINARY, /* no XRC so far: a plugin with XRC may be loaded later */
	PROGRAM_HAS_XRC,
};

extern atomic_int program_kind;

/*
 * The process starts: searches the objects that are loaded. A program has XRC if one of them refers
 * to ibv_open_xrc_domain, or calls dlsym and contains that name.
 */
void program_search(void);

/* The first verb of the process: the program is ordinary unless it is known to have XRC. */
void program_set_kind(void);

/* A name was looked up with dlsym or dlvsym. Takes no lock. */
void program_note_lookup(const char *name);

/* The program opens a domain: it has XRC. The first such call searches for a plugin. */
void program_note_xrc(void);

/*
 * Whether XRC QPs of this program are to receive as well. XRC_COMPAT_TWO_WAY=on or off decides if
 * set (not in setuid programs). Otherwise a program with XRC is two-way if neither the searched
 * objects nor a call of dlsym named a receive-QP function. Objects name it as in program_search().
 */
bool program_is_two_way(void);

/* Whether to pass every verb on: libibverbs is found, and the program has no XRC. */
static inline bool program_is_ordinary(void)
{
	return atomic_load_explicit(&program_kind, memory_order_acquire) == PROGRAM_ORDINARY;
}

#endif
