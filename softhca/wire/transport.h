/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One work request on the wire: from a sender's memory to whatever answers at the other end. */
#ifndef SOFTHCA_TRANSPORT_H
#define SOFTHCA_TRANSPORT_H

#include <softhca/machine/hca.h>
#include <softhca/machine/mem.h>
#include <softhca/model/mlx4_fmt.h>

#define TRANSPORT_MAX_MESSAGE 0x40000000u

enum outcome {
	PART,	   /* a piece has arrived, the next may follow */
	SENT,	   /* done, or nobody will ever know better (UC, UD) */
	LOST,	   /* no answer: retry after the transport timeout */
	NOT_READY, /* no receive buffer: retry after the peer's RNR timer */
	FAILED,	   /* with a syndrome */
};

/* An attempt to execute a request. What happens to the peer happens after the sender's completion. */
struct attempt {
	struct hca_qp *qp;
	const struct mlx4_wqe *wqe;
	struct hca_qp *peer;
	uint8_t syndrome;	  /* of FAILED */
	bool peer_fails;	  /* goes to ERR */
	int event;		  /* enum ibv_event_type, raised on the peer if it fails; -1 = none */
	struct mem_vec local;	  /* the sender's data */
	uint64_t offset, part;	  /* bytes of the message that were sent before, that are sent now */
	bool last;		  /* with them the message is complete */
};

/*
 * Longest piece of a message that is moved at once: others wait meanwhile. A multiple of every MTU. To the wire's faults a
 * piece is one packet.
 */
#define TRANSPORT_PIECE ((uint64_t)256 << 10)

/* Sends the next piece of the request. */
enum outcome transport_execute(struct attempt *attempt);

#endif
