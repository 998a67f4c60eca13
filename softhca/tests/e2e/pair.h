/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Two hosts with a QP each, which are or will be connected. */
#ifndef TEST_SOFTHCA_PAIR_H
#define TEST_SOFTHCA_PAIR_H

#include "xrc.h"

struct pair {
	struct host *a, *b;
	struct ibv_qp *qa, *qb;
	/* Of b, with a target as qb, if qa is an XRC_SEND QP. Else both are NULL. */
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
};

/* Both QPs in RESET, for cases that connect them step by step. */
struct pair pair_apart(enum ibv_qp_type type);

/* Both connected. @link: NULL for the usual attributes. */
struct pair pair_up(enum ibv_qp_type type, const struct rig_link *link);
/* Two connected RC QPs with attributes of their own. */
struct pair pair_unlike(struct rig_link link_a, struct rig_link link_b);

/* False if something cannot be destroyed. */
bool pair_tear_down(struct pair *pair);

/* Fills memory with bytes that tell the place and the seed. */
void pair_pattern(uint8_t *at, size_t length, unsigned int seed);

/* Posts part of b's buffer to its QP, or to its SRQ if it has one. */
int pair_post_recv(struct pair *pair, size_t offset, uint32_t length, uint64_t wr_id);

/* A request between a's buffer and b's, at these offsets. A send ignores @remote. */
struct ibv_send_wr pair_remote_wr(struct pair *pair, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
				  size_t local, size_t remote, uint32_t length);

/* Sends from the start of a's buffer, and waits for the completion, which must have this status. */
bool pair_send(struct pair *pair, uint32_t length, enum ibv_wc_status status);

/*
 * A datagram from a's buffer to b's QP, by this path or, if @path is NULL, by b's LID. The caller
 * destroys the address handle.
 */
struct ibv_send_wr pair_datagram(struct pair *pair, struct ibv_sge *sge, struct ibv_ah_attr *path,
				 uint32_t length);

#endif
