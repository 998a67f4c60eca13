/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What rows do in several steps. A step that fails ends the row. */
#ifndef TESTS_E2E_SHIM_STEPS_H
#define TESTS_E2E_SHIM_STEPS_H

#include "actor.h"

/* A number that no QP has, for QPs whose peer does not matter. */
#define PEER_QPN 0x4321

/** with_domain - a new actor on device 0, with the domain of FILE_A or a private one in D. */
struct actor *with_domain(void);
struct actor *with_private(void);

/** plain_qp - creates a QP of this type in slot 1, with the SRQ of a slot or without (NIL). */
struct result plain_qp(struct actor *actor, enum ibv_qp_type type, int srq, unsigned flags);

/** number_of - the number of the object that was created. */
uint32_t number_of(struct result result);

/** new_rcv_qp - a receive QP in D; new_rcv_qp_in_rtr - connected to PEER_QPN on its own port. */
uint32_t new_rcv_qp(struct actor *actor);
uint32_t new_rcv_qp_in_rtr(struct actor *actor);

/* Attributes for all of MASK_INIT, MASK_RTR and MASK_RTS; peer: on whose port the other QP is. */
struct ibv_qp_attr attr_to(enum ibv_qp_state state, const struct actor *peer);
int mask_to(enum ibv_qp_state state);

/* Requests to modify an XRC or RC QP, or a receive QP in D. */
#define QP(slot_) REQUEST(modify_qp, .slot = slot_)
#define RCV_QP(qpn_) REQUEST(modify_rcv_qp, .number = qpn_)

/** bring - brings the QP from RESET up to the state, with full masks. */
void bring(struct actor *actor, struct request qp, enum ibv_qp_state state,
	   const struct actor *peer, uint32_t dest_qp_num);

/**
 * A sender on one device and receivers on the other, as one-way programs connect them (Open MPI 1.6
 * xoob, MVAPICH2).
 */
struct wire {
	struct actor *sender;	/* XRC QP in slot 0, in a domain of its own */
	struct actor *receiver;	/* created the receive QP in D; XRC SRQ in slot 0 */
	uint32_t send_qpn, rcv_qpn, srq_num;
};

/** wire_new - connected: the XRC QP in RTS, the receive QP in RTR in this file's domain. */
struct wire wire_new(enum file file);

/** wire_join - another receiver in the domain of FILE_A, with an SRQ in slot 0, not registered. */
struct actor *wire_join(uint32_t *srq_num);

/** wire_send - sends a message, and waits for its completion, which must be good. */
void wire_send(const struct wire *wire, uint32_t srq_num, uint32_t bytes, uint32_t imm);

/**
 * wire_arrives - waits for the completion of the SRQ in slot 0 of `receiver`, and expects the bytes
 * that were sent. flags: CQ_EVENT.
 */
void wire_arrives(const struct wire *wire, struct actor *receiver, uint32_t srq_num, uint32_t bytes,
		  uint32_t imm, unsigned flags);

/** wire_deliver - posts a receive, sends a message to it, and expects that it arrives. */
void wire_deliver(const struct wire *wire, struct actor *receiver, uint32_t srq_num, uint32_t bytes,
		  uint32_t imm);

#endif
