/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* GASNet: what gasnet.c and gasnet_qp.c share. */
#ifndef TESTS_LEGACY_CLIENTS_GASNET_H
#define TESTS_LEGACY_CLIENTS_GASNET_H

#include <sys/types.h>
#include <infiniband/verbs.h>

#include "data.h"

enum queue {
	SRQ_REQUEST,
	SRQ_REPLY,
	SRQS
};

/* Shared by the processes of the supernode. */
struct supernode {
	uint32_t rcv_qpn[JOB_RANKS_MAX];	/* of the receive QP for that rank's messages */
	pid_t leader;
};

/* What every process tells every other one at start. */
struct bootstrap {
	uint32_t lid, snd_qpn, srqn[SRQS];
	uint32_t rcv_qpn[JOB_RANKS_MAX];
};

extern struct supernode *supernode;
extern struct bootstrap boot[JOB_RANKS_MAX];
extern struct ibv_pd *pd;
extern struct ibv_cq *snd_cq, *rcv_cq;
extern struct ibv_xrc_domain *xrc_domain;
extern struct ibv_qp *snd_qp;

/* GASNet initialises no variable: this fills one with bytes that mean nothing. */
#define GARBAGE 0xa5
void *garbage(void *variable, size_t size);
struct ibv_qp *create_qp(enum ibv_qp_type type, uint32_t inline_data);
void probe_inline_limit(void);
void connect_all(void);
void destroy_qps(void);

#endif
