/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What every row about completion channels needs: a sender on one device, a receive QP on another,
 * and there SRQs whose CQs are on the channels that the row creates.
 */
#ifndef TESTS_E2E_CHANNEL_RIG_H
#define TESTS_E2E_CHANNEL_RIG_H

#include <errno.h>

#include <infiniband/verbs.h>

#include "../row.h"

#define RECEIVES 8		/* posted to each SRQ */
#define PATIENCE_MS 20000	/* for what must come; less than row.c allows a row */

/*
 * Which opened device has the SRQs: the one that created the receive QP, or another one that opened
 * its domain, too.
 */
enum owner {
	OWN,
	JOINED
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

/** rig_open - opens the devices as rig.owner says, and connects the QPs. */
void rig_open(void);

/* A channel, a CQ on it, and an SRQ that completes there: all that most rows need. */
struct one {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
};

/**
 * rig_one - creates these; *one must stay, as the CQ's context points to it. rig_end_one - ends
 * them.
 */
void rig_one(struct one *one);
void rig_end_one(struct one *one);

/** rig_cq - a CQ of the receiver on that channel (NULL: on none). */
struct ibv_cq *rig_cq(struct ibv_comp_channel *channel, void *cq_context);
struct ibv_comp_channel *rig_channel(void);

/** rig_srq - an XRC SRQ that completes on cq, with receives posted. */
struct ibv_srq *rig_srq(struct ibv_cq *cq);

/**
 * rig_send - sends a message to the SRQ and waits for the send's completion. flags: 0 or
 * IBV_SEND_SOLICITED.
 */
void rig_send(const struct ibv_srq *srq, int flags);

/** rig_arrived - waits for one receive completion on the CQ. */
void rig_arrived(struct ibv_cq *cq);

void rig_arm(struct ibv_cq *cq, int solicited_only);

/** rig_event - reads the channel's next event, which must be the CQ's. Does not acknowledge it. */
void rig_event(struct ibv_comp_channel *channel, const struct ibv_cq *cq);

/** rig_no_event - the channel has none. Leaves it non-blocking. */
void rig_no_event(struct ibv_comp_channel *channel);

/** rig_readable - whether the channel's descriptor is, within so many milliseconds. */
bool rig_readable(const struct ibv_comp_channel *channel, int milliseconds);

void rig_non_blocking(const struct ibv_comp_channel *channel);

#endif
