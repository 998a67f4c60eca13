/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The wire: what its parts know of each other, and the daemon of them. */
#ifndef SOFTHCA_WIRE_H
#define SOFTHCA_WIRE_H

#include <softhca/machine/hca.h>
#include <softhca/machine/mem.h>
#include <softhca/qp/qp.h>

/* ---- an attempt: what is known about it between its sender and its receiver ---- */

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

/* ---- whom a message can reach (transport.c) ---- */

/* The QP's state lets messages in. */
bool reach_receives(const struct hca_qp *qp);

/*
 * The QP @qpn behind port @lid, if it is there, up and of the type that @qp talks to; NULL = no
 * answer ever comes.
 */
struct hca_qp *reach(const struct hca_qp *qp, uint16_t lid, uint32_t qpn);

/* ---- what a request does where it arrives (operation.c) ---- */

/* FAILED with this syndrome at the sender. */
enum outcome operation_fail(struct attempt *attempt, enum syndrome syndrome);

/* Reads and atomics: what comes back is written at the sender. */
bool operation_changes_sender(const struct wqe *wqe);

/*
 * The sender's side of the request, as pieces of memory in attempt->local. False: a key does not
 * open it.
 */
bool operation_local_side(struct attempt *attempt);

/* The buffer at the head of a receive queue after @skip bytes. */
enum buffer { BUFFER_OK, BUFFER_SHORT, BUFFER_FORBIDDEN };
enum buffer operation_receive_side(const struct recv_queue *queue, uint64_t skip, uint64_t length,
				   struct mem_vec *vec);

/*
 * The QP of the receiver goes to ERR; if it is the sender's own, then after the sender's
 * completion.
 */
void operation_receiver_fails(struct attempt *attempt);

/* What the completion of the receiver says about the message. */
void operation_describe(const struct attempt *attempt, struct cqe *cqe);

/* Executes the piece at hand at attempt->peer. */
enum outcome operation_execute(struct attempt *attempt);

/*
 * The answer to a request that was executed before, and whose answer may have been lost: nothing
 * happens twice.
 */
enum outcome operation_repeat(struct attempt *attempt);

/* ---- datagrams (datagram.c) ---- */

/*
 * Sends one. It is SENT even if it was lost on the way; only errors at the sender make it FAILED.
 */
enum outcome datagram_execute(struct attempt *attempt);

/* ---- one work request on the wire (transport.c) ---- */

#define TRANSPORT_MAX_MESSAGE 0x40000000u

/*
 * Longest piece of a message that is moved at once: others wait meanwhile. A multiple of every MTU.
 * To the wire's faults a piece is one packet.
 */
#define TRANSPORT_PIECE ((uint64_t)256 << 10)

/* Sends the next piece of the request. */
enum outcome transport_execute(struct attempt *attempt);

/* ---- work requests on their way: executed and retried (send.c) ---- */

/*
 * Executes what is in the list of work, a bounded number of requests each. False when the list is
 * empty after that.
 */
bool send_run(struct hca_machine *machine);

/* ---- the HCAs' own activity: doorbells, work requests, retries (engine.c) ---- */

/*
 * Does what there is to do now. Nanoseconds until the next turn is wanted; UINT64_MAX = not before
 * something arrives.
 */
uint64_t engine_turn(struct hca_machine *machine);

/*
 * Takes the doorbells that have rung and executes what they announce, but for most of long messages
 * and long queues.
 */
void engine_catch_up(struct hca_machine *machine);

#endif
