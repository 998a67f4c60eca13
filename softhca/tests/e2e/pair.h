/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Two hosts with a QP each. */
#ifndef TEST_SOFTHCA_PAIR_H
#define TEST_SOFTHCA_PAIR_H

#include "rig.h"

struct pair {
	struct host *a, *b;
	struct ibv_qp *qa, *qb;
};

/* Both QPs in RESET, for cases that connect them step by step. */
struct pair pair_apart(enum ibv_qp_type type);

/* Both connected. @link: NULL for the usual attributes. */
struct pair pair_up(enum ibv_qp_type type, const struct rig_link *link);

/* False if something cannot be destroyed. */
bool pair_tear_down(struct pair *pair);

/* Fills memory with bytes that tell the place and the seed. */
void pair_pattern(uint8_t *at, size_t length, unsigned int seed);

/* A request between a's buffer and b's, at these offsets. */
struct ibv_send_wr pair_remote_wr(struct pair *pair, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
				  size_t local, size_t remote, uint32_t length);

#endif
