/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The verbs as rows call them: an actor, slots, and the arguments that matter to the row. */
#ifndef TESTS_E2E_SHIM_CALLS_H
#define TESTS_E2E_SHIM_CALLS_H

#include <unistd.h>

#include "../../../rc_masks.h"
#include "actor.h"

/* Most rows use one domain, in this slot. */
#define D 0

/* A number that no QP has, for QPs whose peer does not matter. */
#define PEER_QPN 0x4321

/* Numbers that no receive QP has. The last two have more than 24 bits. */
#define UNKNOWN_QPNS 7
extern const uint32_t unknown_qpns[UNKNOWN_QPNS];

struct result open_device(struct actor *actor, int device);
/** destroy_rest - destroys what no row creates itself: MR, CQs, channel, PD. Closes the device. */
struct result destroy_rest(struct actor *actor);

struct result open_domain(struct actor *actor, int dom, const char *path, int oflag);
struct result open_domain_as(struct actor *actor, int dom, const char *path, int oflag,
			     unsigned flags);
struct result open_private(struct actor *actor, int dom, int oflag);
struct result open_elsewhere(struct actor *actor, int dom, const char *path, enum place where);
struct result close_domain(struct actor *actor, int dom);

/** srq_request - usual arguments of ibv_create_xrc_srq, which a row may change. */
struct request srq_request(int slot, int dom);
struct result create_srq(struct actor *actor, int slot, int dom);
struct result create_plain_srq(struct actor *actor, int slot);
struct result modify_srq(struct actor *actor, int slot, uint32_t limit);
struct result query_srq(struct actor *actor, int slot);
struct result destroy_srq(struct actor *actor, int slot);

/** qp_request - usual arguments of ibv_create_qp with IBV_QPT_XRC, which a row may change. */
struct request qp_request(int slot, int dom);
struct result create_qp(struct actor *actor, int slot, int dom);
struct result create_plain_qp(struct actor *actor, int slot, enum ibv_qp_type type);
struct result modify_qp(struct actor *actor, int slot, const struct ibv_qp_attr *attr, int mask);
struct result query_qp(struct actor *actor, int slot, int mask);
struct result destroy_qp(struct actor *actor, int slot);

/**
 * with_domain - a new actor on device 0, with the domain of row_file(0) in D; with_private - with a
 * private domain.
 */
struct actor *with_domain(void);
struct actor *with_private(void);

struct result create_rcv_qp(struct actor *actor, int dom);
struct result create_rcv_qp_as(struct actor *actor, int dom, unsigned flags);
/** new_rcv_qp - creates a receive QP in D. Returns its number. */
uint32_t new_rcv_qp(struct actor *actor);
/** new_rcv_qp_in_rtr - the same, connected to PEER_QPN on the actor's own port. */
uint32_t new_rcv_qp_in_rtr(struct actor *actor);
struct result modify_rcv_qp(struct actor *actor, int dom, uint32_t qp_num,
			    const struct ibv_qp_attr *attr, int mask);
struct result query_rcv_qp(struct actor *actor, int dom, uint32_t qp_num, int mask);
struct result query_rcv_qp_as(struct actor *actor, int dom, uint32_t qp_num, unsigned flags);
struct result reg(struct actor *actor, int dom, uint32_t qp_num);
struct result unreg(struct actor *actor, int dom, uint32_t qp_num);

/* Attributes for all of MASK_INIT, MASK_RTR and MASK_RTS; peer: on whose port the other QP is. */
struct ibv_qp_attr attr_to(enum ibv_qp_state state, const struct actor *peer, uint32_t dest_qp_num);
int mask_to(enum ibv_qp_state state);

/* From RESET up to `state`, with full masks; each step must succeed. A receive QP is in D. */
void bring_rcv_qp(struct actor *actor, uint32_t qp_num, enum ibv_qp_state state,
		  const struct actor *peer, uint32_t dest_qp_num);
void bring_qp(struct actor *actor, int slot, enum ibv_qp_state state, const struct actor *peer,
	      uint32_t dest_qp_num);

struct result post_recv(struct actor *actor, int srq);
struct result post_recv_as(struct actor *actor, int srq, unsigned flags);
struct result post_recv_qp(struct actor *actor, int qp);
struct result post_send(struct actor *actor, int qp, uint32_t srq_num, uint32_t bytes,
			uint32_t imm);
/*
 * One completion of the CQ of QPs, or of that of SRQs; ETIMEDOUT if there is none. flags: CQ_EVENT
 * (SRQs only) or DRAIN.
 */
struct result send_completion(struct actor *actor);
struct result recv_completion(struct actor *actor, int srq, unsigned flags);

/**
 * get_event - ETIMEDOUT if there is none. With DRAIN: waits for a moment, and returns the result of
 * ibv_get_async_event on a non-blocking fd. slot: the QP or SRQ that the event's pointer is
 * compared with.
 */
struct result get_event(struct actor *actor, int slot, unsigned flags);
struct result ack_event(struct actor *actor, unsigned flags);

#endif
