/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Two hosts with a QP each, and a target with two handles: connected, for rows that send. */
#ifndef TEST_SOFTHCA_PAIR_H
#define TEST_SOFTHCA_PAIR_H

#include "rig.h"

struct pair {
	union {
		struct {
			struct host *a, *b;
		};
		struct host *host[2];
	};
	union {
		struct {
			struct ibv_qp *qa, *qb;
		};
		struct ibv_qp *qp[2];
	};
	/* Both are b's, with a target as qb, if qa is an XRC_SEND QP. Else they are NULL. */
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
};

/* Both QPs in RESET, for rows that connect them step by step. */
struct pair pair_apart(enum ibv_qp_type type);
/* Both connected; pair_by() with attributes of their own. */
struct pair pair_up(enum ibv_qp_type type);
struct pair pair_by(enum ibv_qp_type type, struct rig_link link_a, struct rig_link link_b);
/* Brings qb to RTR only, with so many receives of pair_must_receive(). */
void pair_receiver_up(const struct pair *pair, int receives);
/* Destroys all of it: nothing may be in use any more. */
void pair_tear_down(struct pair *pair);

/* Fills memory with bytes that tell the place and the seed. */
void pair_pattern(uint8_t *at, size_t length, unsigned int seed);

/* Posts part of b's buffer to its QP, or to its SRQ if it has one. */
int pair_post_recv(const struct pair *pair, size_t offset, uint32_t length, uint64_t wr_id);

/* A request between a's buffer and b's, at these offsets. A send ignores @remote. */
struct ibv_send_wr pair_wr(const struct pair *pair, enum ibv_wr_opcode opcode, size_t local,
			   size_t remote, uint32_t length);
/*
 * A datagram from a's buffer to b's QP, by this path or, if @path is NULL, by b's LID. The caller
 * destroys the address handle.
 */
struct ibv_send_wr pair_datagram(const struct pair *pair, struct ibv_ah_attr *path,
				 uint32_t length);

/* Sends from the start of a's buffer by any type of QP. The completion must have this status. */
#define pair_must_send(pair, length, status) \
	pair_must_send_at(pair, length, status, __FILE__, __LINE__)
void pair_must_send_at(const struct pair *pair, uint32_t length, enum ibv_wc_status status,
		       const char *file, int line);
/* Posts @count receives of PAIR_BYTES, with IDs from 1. */
#define PAIR_BYTES 100u
void pair_must_receive(const struct pair *pair, int count);

/* Runs softhca ctl VERB DEVICE WORDS. a is on device 0, b on device 1. */
void pair_control(const char *verb, int device, const char *words, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- a domain that two contexts share, and a sender that reaches both ---- */

#define XRC_BYTES 64u

/* A sender on device 0, and on device 1 a target with two contexts ("processes") in one domain. */
struct xrc_stage {
	struct host *sender, *one, *two;
	struct ibv_xrcd *xrcd1, *xrcd2;
	struct ibv_srq *srq1, *srq2;
	struct ibv_qp *send, *target, *opened;
};

/* Makes all objects, and connects them. */
struct xrc_stage xrc_stage(void);
/* A request of XRC_BYTES from the sender's buffer to an SRQ. */
struct ibv_send_wr xrc_wr(const struct xrc_stage *s, enum ibv_wr_opcode opcode,
			  struct ibv_srq *srq);
/*
 * Sends to an SRQ of the host. The sender gets this status; if it is success, the host gets the
 * message.
 */
#define xrc_must_send(s, srq, host, status) \
	xrc_must_send_at(s, srq, host, status, __FILE__, __LINE__)
void xrc_must_send_at(struct xrc_stage *s, struct ibv_srq *srq, struct host *host,
		      enum ibv_wc_status status, const char *file, int line);

#endif
