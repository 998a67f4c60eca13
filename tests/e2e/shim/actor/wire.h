/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A sender on one device and receivers on the other, as one-way programs connect them (Open MPI 1.6
 * xoob, MVAPICH2).
 */
#ifndef TESTS_E2E_SHIM_WIRE_H
#define TESTS_E2E_SHIM_WIRE_H

#include "calls.h"

struct wire {
	struct actor *sender;	/* XRC QP in slot 0, in a domain of its own */
	/* created the receive QP in domain D of row_file(0); XRC SRQ in slot 0 */
	struct actor *receiver;
	uint32_t send_qpn, rcv_qpn, srq_num;
};

/**
 * wire_new - connected: the XRC QP in RTS, the receive QP in RTR. wire_to - to a receiver that has
 * its domain D already.
 */
struct wire wire_new(void);
struct wire wire_to(struct actor *receiver);

/**
 * wire_join - another receiver: in the same domain, with an SRQ of its own in slot 0, not
 * registered.
 */
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
		  uint32_t imm, unsigned flags);

#endif
