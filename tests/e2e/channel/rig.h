/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a row about completion channels stands on: a sender on one device; on another a receive QP, and SRQs whose XRC
 * CQs a row puts on channels of its own.
 */
#ifndef TESTS_E2E_CHANNEL_RIG_H
#define TESTS_E2E_CHANNEL_RIG_H

#include <infiniband/verbs.h>

#include "rows.h"

#define RECEIVES 8		/* posted to each SRQ */
#define PATIENCE_MS 20000	/* for what must come */

/* To which opened device the SRQs belong: the one that made the receive QP, or another one that joined its domain. */
enum owner {
	OWN,
	JOINED,
	OWNERS
};

struct rig {
	enum owner owner;
	struct ibv_context *sender, *maker, *receiver;
	struct ibv_pd *send_pd, *pd;
	struct ibv_xrc_domain *send_domain, *made, *domain;
	struct ibv_cq *send_cq;
	struct ibv_qp *qp;
	uint32_t rcv_qpn;
	struct ibv_mr *send_mr, *mr;
};

extern struct rig rig;

/** rig_open - owner as enum owner. */
void rig_open(int owner);

/** rig_cq - a CQ of the receiver on that channel, NULL for none. cq_context is where it is kept by the caller. */
struct ibv_cq *rig_cq(struct ibv_comp_channel *channel, void *cq_context);
struct ibv_comp_channel *rig_channel(void);

/** rig_srq - an XRC SRQ with its completions on cq, receives posted. */
struct ibv_srq *rig_srq(struct ibv_cq *cq);

/** rig_send - a message to the SRQ; comes back when it has arrived. flags as IBV_SEND_SOLICITED. */
void rig_send(const struct ibv_srq *srq, int flags);

/** rig_arrived - takes one receive completion off the CQ. */
void rig_arrived(struct ibv_cq *cq);

void rig_arm(struct ibv_cq *cq, int solicited_only);

/** rig_event - waits for the next event of the channel, which must be the CQ's, without acknowledging it. */
void rig_event(struct ibv_comp_channel *channel, const struct ibv_cq *cq);

/** rig_no_event - there is none. Leaves the channel non-blocking. */
void rig_no_event(struct ibv_comp_channel *channel);

/** rig_readable - whether the channel's descriptor is, within so many milliseconds. */
bool rig_readable(const struct ibv_comp_channel *channel, int milliseconds);

void rig_non_blocking(const struct ibv_comp_channel *channel);

#endif
