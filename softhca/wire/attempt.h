/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An attempt to execute a work request: what is known about it between its sender and its receiver.
 */
#ifndef SOFTHCA_ATTEMPT_H
#define SOFTHCA_ATTEMPT_H

#include <softhca/machine/hca.h>
#include <softhca/machine/mem.h>

enum outcome {
	PART,	   /* a piece has arrived, the next may follow */
	SENT,	   /* done; or, on UC and UD, sent without an answer */
	LOST,	   /* no answer: retry after the transport timeout */
	NOT_READY, /* no receive buffer: retry after the peer's RNR timer */
	FAILED,	   /* with a syndrome */
};

/*
 * An attempt to execute a request. What happens to the peer happens after the sender's completion.
 */
struct attempt {
	struct hca_qp *qp;
	const struct wqe *wqe;
	struct hca_qp *peer;
	uint8_t syndrome;	  /* of FAILED */
	bool peer_fails;	  /* goes to ERR */
	bool sender_fails;	  /* after SENT: it was its own receiver */
	/* enum ibv_event_type, raised on the peer if it fails; -1 = none */
	int event;
	struct mem_vec local;	  /* the sender's data */
	/* bytes of the message that were sent before, that are sent now */
	uint64_t offset, part;
	bool last;		  /* with them the message is complete */
};

#endif
