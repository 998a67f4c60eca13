/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Where the rings of a program lie, as its provider told the kernel. */
#ifndef SOFTHCA_RING_H
#define SOFTHCA_RING_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* A send or receive queue of a QP. */
struct ring {
	uint64_t buffer; /* in the client */
	uint64_t record; /* doorbell record in the client; 0 = none */
	uint32_t count;	 /* slots, a power of two; 0 = there is no queue */
	uint32_t shift;	 /* log2 of a slot */
	uint32_t next;	 /* slot of the next WQE, counted without end */
	uint32_t known;	 /* so far slots are known to be filled, counted as next is */
};

/* What a program asks of a QP, and what it gets. */
struct qp_caps {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
};

/* The rings of a new QP. */
struct qp_rings {
	struct ring sq, rq;
	uint32_t max_recv_sge; /* entries in the scatter list of a receive WQE */
	uint32_t user_index;
};

struct cq_place {
	uint64_t buffer, record;
	uint32_t entry; /* bytes of a completion */
};

struct srq_place {
	uint64_t buffer, record;
	uint32_t user_index;
};

#endif
