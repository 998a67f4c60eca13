/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which kind of program this is: whether it uses XRC, and in one direction or in both.
 *
 * One-way programs (Open MPI, MVAPICH2, GASNet) connect an XRC QP to a receive QP and only send on
 * it. Two-way programs (qperf, MVAPICH 1.x) connect XRC QPs to one another and send both ways. The
 * order of calls does not tell which, because one-way programs create the sending QP first. The
 * functions that a program refers to do tell: without ibv_create_xrc_rcv_qp and ibv_reg_xrc_rcv_qp
 * it has no receive QPs.
 */
#ifndef COMPAT_PROGRAM_H
#define COMPAT_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Whether an XRC QP of this program is to receive as well. XRC_COMPAT_TWO_WAY=on or off decides if
 * set (not in setuid programs). Otherwise a program is two-way if all three hold: no loaded object
 * refers to a receive-QP function; dlsym was not asked for one; no object that calls dlsym contains
 * the name of one.
 * @receive_only: the QP in question cannot send (max_send_wr 0, qperf's xrc_bw server), so it can
 * only be for receiving
 */
bool program_is_two_way(bool receive_only);

/* A name was looked up with dlsym or dlvsym. Takes no lock. */
void program_note_lookup(const char *name);

/*
 * Whether the program can have XRC objects. The first verb of the process determines it. A program
 * that has none then is ordinary until it looks ibv_open_xrc_domain up, or calls it: a plugin with
 * XRC may be loaded later.
 */
enum program_kind {
	PROGRAM_UNKNOWN,
	PROGRAM_ORDINARY,
	PROGRAM_HAS_XRC,
};

extern atomic_int program_kind;

/*
 * A program has XRC if a loaded object refers to ibv_open_xrc_domain, or calls dlsym and contains
 * that name. Takes the loader's lock.
 */
void program_find_kind(void);

/* The program has XRC, whatever program_find_kind() says. */
void program_note_xrc(void);

/* Whether to pass every verb on: libibverbs is found, and the program has no XRC. */
static inline bool program_is_ordinary(void)
{
	return atomic_load_explicit(&program_kind, memory_order_acquire) == PROGRAM_ORDINARY;
}

#endif
