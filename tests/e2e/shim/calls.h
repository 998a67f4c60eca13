/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The verbs as rows write them: an actor, slots, and what matters to the row.
 */
#ifndef TESTS_E2E_SHIM_CALLS_H
#define TESTS_E2E_SHIM_CALLS_H

#include <unistd.h>

#include "../../rc_masks.h"
#include "actor.h"

/* Most rows use one domain, in this slot. */
#define D 0

struct result open_domain(struct actor *actor, int dom, const char *path, int oflag);
struct result open_domain_as(struct actor *actor, int dom, const char *path, int oflag, unsigned flags);
struct result open_private(struct actor *actor, int dom, int oflag);
struct result open_elsewhere(struct actor *actor, int dom, const char *path, enum place where);
struct result close_domain(struct actor *actor, int dom);

/** srq_request - the arguments of a usual ibv_create_xrc_srq, for a row to change one of. */
struct request srq_request(int slot, int dom);
struct result create_srq(struct actor *actor, int slot, int dom);
struct result create_plain_srq(struct actor *actor, int slot);
struct result modify_srq(struct actor *actor, int slot, uint32_t limit);
struct result query_srq(struct actor *actor, int slot);
struct result destroy_srq(struct actor *actor, int slot);

/** qp_request - the arguments of a usual ibv_create_qp with IBV_QPT_XRC, for a row to change one of. */
struct request qp_request(int slot, int dom);
struct result create_qp(struct actor *actor, int slot, int dom);
struct result create_plain_qp(struct actor *actor, int slot, enum ibv_qp_type type);
struct result modify_qp(struct actor *actor, int slot, const struct ibv_qp_attr *attr, int mask);
struct result query_qp(struct actor *actor, int slot, int mask);
struct result destroy_qp(struct actor *actor, int slot);

/** with_domain - another opened device, with the row's first file as its domain D. */
struct actor *with_domain(void);

struct result create_rcv_qp(struct actor *actor, int dom);
struct result create_rcv_qp_as(struct actor *actor, int dom, unsigned flags);
/** made_by - the number of a receive QP that the actor has just made in D. */
uint32_t made_by(struct actor *actor);
struct result modify_rcv_qp(struct actor *actor, int dom, uint32_t qp_num, const struct ibv_qp_attr *attr, int mask);
struct result query_rcv_qp(struct actor *actor, int dom, uint32_t qp_num, int mask);
struct result query_rcv_qp_as(struct actor *actor, int dom, uint32_t qp_num, unsigned flags);
struct result reg(struct actor *actor, int dom, uint32_t qp_num);
struct result unreg(struct actor *actor, int dom, uint32_t qp_num);

/* Attributes for MASK_INIT, MASK_RTR and MASK_RTS in one struct; peer: whose port it is connected to. */
struct ibv_qp_attr attr_to(enum ibv_qp_state state, const struct actor *peer, uint32_t dest_qp_num);
int mask_to(enum ibv_qp_state state);

/* Up to and including `state`, full masks; each step must succeed. */
void bring_rcv_qp(struct actor *actor, int dom, uint32_t qp_num, enum ibv_qp_state state, const struct actor *peer,
		  uint32_t dest_qp_num);
void bring_qp(struct actor *actor, int slot, enum ibv_qp_state state, const struct actor *peer, uint32_t dest_qp_num);

struct result post_recv(struct actor *actor, int srq);
struct result post_recv_qp(struct actor *actor, int qp);
struct result post_send(struct actor *actor, int qp, uint32_t srq_num, uint32_t bytes, uint32_t imm);
/* One completion of the QPs' CQ, or of the SRQs'; ETIMEDOUT when there is none in time. flags: SLEEP or DRAIN. */
struct result send_completion(struct actor *actor, unsigned flags);
struct result recv_completion(struct actor *actor, int srq, unsigned flags);

/**
 * get_event - ETIMEDOUT when there is none in time. With DRAIN: what ibv_get_async_event says, on a non-blocking fd,
 * after a time in which an event should have come if there is to be one. slot: of the QP or SRQ to compare with.
 */
struct result get_event(struct actor *actor, int slot, unsigned flags);
struct result ack_event(struct actor *actor, unsigned flags);

#endif
