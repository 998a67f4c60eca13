/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How far the daemon has come with the rings of a context. It lies behind the doorbell page, in the same memfd, and only the
 * daemon writes it, until it dies: then the preload goes on where it stopped, and flushes what is posted.
 *
 * A completion is written in this order, so that a death at any instant loses none and repeats none: what it will be, the
 * completion itself, how far its queue is, how far the CQ is.
 */
#ifndef SOFTHCA_LEDGER_H
#define SOFTHCA_LEDGER_H

#include <stdint.h>

#define LEDGER_CQS 1024u
#define LEDGER_QPS 2048u /* what is beyond is not flushed */

#define LEDGER_SEND    0x80000000u
#define LEDGER_NOTHING UINT32_MAX

/* The same in programs and daemons of either word size: the widest members first. */
struct ledger_queue {
	uint64_t buffer, record;
	uint32_t count, shift, next, reserved;
};

struct ledger_cq {
	uint64_t buffer, record;
	uint32_t used, size, entry, producer;
	uint32_t coming;      /* whose the completion at producer will be: the QP's place here, with LEDGER_SEND; or LEDGER_NOTHING */
	uint32_t coming_next; /* how far that queue is then */
};

struct ledger_qp {
	struct ledger_queue sq, rq;
	uint32_t used;
	uint32_t active; /* not in RESET, where rings hold old requests */
	uint32_t qpn, user_index;
	uint32_t send_cq, recv_cq; /* their places here; LEDGER_NOTHING = none */
};

struct ledger {
	uint32_t model; /* index in models[] */
	uint32_t cqe_version;
	uint32_t cqs, qps; /* places that were ever used */
	struct ledger_cq cq[LEDGER_CQS];
	struct ledger_qp qp[LEDGER_QPS];
};

_Static_assert(sizeof(struct ledger_cq) == 40 && sizeof(struct ledger_qp) == 88 && sizeof(struct ledger) % 8 == 0,
	       "the same for both word sizes");

#define LEDGER_BYTES ((sizeof(struct ledger) + 4095u) & ~(size_t)4095u)

#endif
