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

/**
 * program_is_two_way - whether an XRC QP of this program is to receive as well.
 * XRC_COMPAT_TWO_WAY=on or off decides if set (not in setuid programs). Otherwise a program is
 * two-way if all three hold: no loaded object refers to a receive-QP function; dlsym was not asked
 * for one; no object that calls dlsym contains the name of one.
 * @receive_only: the QP in question cannot send (max_send_wr 0, qperf's xrc_bw server), so it can
 * only be for receiving
 */
bool program_is_two_way(bool receive_only);

/** program_note_lookup - a name was looked up with dlsym or dlvsym. Lock-free. */
void program_note_lookup(const char *name);

/**
 * program_uses_xrc - whether the program can have XRC objects: a loaded object refers to
 * ibv_open_xrc_domain, or looks it up. The first call determines it, later ones only load it.
 * program_uses_xrc_by_now - as before, and asks again after an object was loaded. Slower.
 * program_note_xrc - from now on the answer is yes.
 */
enum program_xrc {
	PROGRAM_USES_NONE = 1,	/* 0: not known yet */
	PROGRAM_USES_XRC,
};

extern atomic_int program_xrc;
bool program_find_xrc(void);
bool program_uses_xrc_by_now(void);
void program_note_xrc(void);

static inline bool program_uses_xrc(void)
{
	int known = atomic_load_explicit(&program_xrc, memory_order_relaxed);

	return known != PROGRAM_USES_NONE && (known == PROGRAM_USES_XRC || program_find_xrc());
}

#endif
