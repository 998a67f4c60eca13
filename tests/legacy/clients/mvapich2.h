/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * MVAPICH2: what its files share, and how it calls verbs: linked, or, since 2.3.5, through a table.
 */
#ifndef TESTS_LEGACY_CLIENTS_MVAPICH2_H
#define TESTS_LEGACY_CLIENTS_MVAPICH2_H

#include <infiniband/verbs.h>

#ifdef IBV_DLOPEN
/* In the order in which it looks them up; it never calls query_xrc_rcv_qp. */
#define VERBS(X) \
	X(get_device_list) X(free_device_list) X(open_device) X(close_device) X(query_device) \
	X(query_port) X(alloc_pd) X(dealloc_pd) X(reg_mr) X(dereg_mr) X(create_comp_channel) \
	X(destroy_comp_channel) X(create_cq) X(destroy_cq) X(get_cq_event) X(ack_cq_events) \
	X(create_srq) X(modify_srq) X(destroy_srq) X(create_qp) X(modify_qp) X(query_qp) \
	X(destroy_qp) X(get_async_event) X(ack_async_event) X(event_type_str) X(wc_status_str) \
	X(open_xrc_domain) X(close_xrc_domain) X(create_xrc_srq) X(create_xrc_rcv_qp) \
	X(modify_xrc_rcv_qp) X(query_xrc_rcv_qp) X(reg_xrc_rcv_qp) X(unreg_xrc_rcv_qp)

struct verbs {
#define X(name) __typeof__(ibv_##name) *name;
	VERBS(X)
#undef X
};
extern struct verbs verbs;
#define VERB(name) verbs.name
#endif
#include "data.h"	/* includes hca.h, which defines VERB for the linked program */

enum vc_state {
	VC_NEW,
	VC_REQUESTED,
	VC_CONNECTED
};

/* The connection to a rank. Ranks of one host share the sending QP. */
struct vc {
	enum vc_state state;
	/* the receive QP for its messages to us: we created it or registered with it */
	uint32_t xrc_my_rqpn;
	uint32_t remote_srqn;
};

struct hca {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq_hndl;
	struct ibv_xrc_domain *xrc_domain;
	uint32_t lid, srqn;
};

extern struct hca hca;

/* Looks up all verbs; a linked program has nothing to do. */
void verbs_open(void);

void cm_start(void);
void cm_stop(void);
/* Asks for a connection and waits until it is there. */
void cm_connect(int rank);
struct vc *cm_vc(int rank);
/* The QP on which messages for that rank go. */
struct ibv_qp *cm_qp(int rank);
void cm_finalize(void);

#endif
