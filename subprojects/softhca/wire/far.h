/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The messages between the wires of two machines, whose daemons are of one release and one order of
 * bytes. They have the same size for 32 and 64 bits.
 */
#ifndef SOFTHCA_WIRE_FAR_H
#define SOFTHCA_WIRE_FAR_H

#include <model/model.h>

/* A piece of a request; the bytes that it carries follow. */
struct far_request {
	uint64_t tag; /* for the answer */
	uint64_t length, offset; /* of the message; bytes of it that were sent before */
	uint64_t remote_address, swap_add, compare;
	struct av av; /* of a datagram, or the path and the peer of a connected QP */
	uint32_t part; /* bytes of this piece */
	uint32_t qpn, psn, qkey, srqn, rkey, imm;
	uint16_t slid, pkey_index;
	uint8_t type, opcode, path_mtu, path_mig_state, reading, last, solicited;
	uint8_t unused[5];
};

/* The answer to a piece; the bytes that were read follow. */
struct far_answer {
	uint64_t tag;
	uint32_t qpn;
	uint16_t slid; /* of the QP that has asked */
	uint8_t outcome, syndrome, rnr_timer, path_mig_state;
	uint8_t unused[6];
};

_Static_assert(sizeof(struct far_request) == 128 && sizeof(struct far_answer) == 24,
	       "what follows them is aligned");

#endif
