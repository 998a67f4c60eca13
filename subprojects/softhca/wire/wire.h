/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The wire: what its files share, and what the daemon calls. */
#ifndef SOFTHCA_WIRE_H
#define SOFTHCA_WIRE_H

#include <capture/capture.h>
#include <machine/hca.h>
#include <machine/mem.h>
#include <qp/qp.h>

/* ---- an attempt: what is known about it between its sender and its receiver ---- */

enum outcome {
	PART,	   /* a piece has arrived, the next may follow */
	SENT,	   /* done; or, on UC and UD, sent without an answer */
	LOST,	   /* no answer: retry after the transport timeout */
	NOT_READY, /* no receive buffer: retry after the peer's RNR timer */
	FAILED,	   /* with a syndrome */
};

/* An attempt to execute a request. The sender's completion comes before the peer's. */
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

/* ---- a request at its receiver (operation.c) ---- */

/* FAILED with this syndrome at the sender. */
enum outcome operation_fail(struct attempt *attempt, enum syndrome syndrome);

/* Reads and atomics: what comes back is written at the sender. */
bool operation_changes_sender(const struct wqe *wqe);

/* The sender's memory, in attempt->local. False: a key does not open it. */
bool operation_local_side(struct attempt *attempt);

/* The buffer of the next WQE of a receive queue, after @skip bytes. */
enum buffer { BUFFER_OK, BUFFER_SHORT, BUFFER_FORBIDDEN };
enum buffer operation_receive_side(const struct recv_queue *queue, uint64_t skip, uint64_t length,
				   struct mem_vec *vec);

/* The receiver's QP goes to ERR; the sender's own one does after its completion. */
void operation_receiver_fails(struct attempt *attempt);

/* Packets that this piece of the request, or its answer, takes. */
uint32_t operation_packets(const struct attempt *attempt);

/* Fills in what the receiver's completion says about the message. */
void operation_describe(const struct attempt *attempt, struct cqe *cqe);

/* Executes the piece at hand at attempt->peer. */
enum outcome operation_execute(struct attempt *attempt);

/* Answers a request again that was executed before: nothing happens twice. */
enum outcome operation_repeat(struct attempt *attempt);

/* ---- datagrams (datagram.c) ---- */

/* Sends one. It is SENT even if it was lost; FAILED by errors at the sender only. */
enum outcome datagram_execute(struct attempt *attempt);

/* ---- one work request on the wire (transport.c) ---- */

#define TRANSPORT_MAX_MESSAGE 0x40000000u

/* A longer message is moved in such pieces, multiples of every MTU. Faults hit whole pieces. */
#define TRANSPORT_PIECE ((uint64_t)256 << 10)

/* Sends the next piece of the request. */
enum outcome transport_execute(struct attempt *attempt);

/* ---- the packets of a capture (tap.c); without one these do nothing ---- */

/* The piece at hand, whether it arrives or not. */
void tap_request(const struct attempt *attempt);
void tap_datagram(const struct attempt *attempt, uint32_t qkey);

/* What attempt->peer answers to it. */
void tap_answer(const struct attempt *attempt, enum outcome outcome);

/* ---- work requests on their way: executed and retried (send.c) ---- */

/* Executes some requests of each QP in the list of work. False: the list is empty then. */
bool send_run(struct hca_machine *machine);

/* ---- the HCAs' own activity: doorbells, work requests, retries (engine.c) ---- */

/* Does what there is to do. Nanoseconds to the next turn; UINT64_MAX: until something comes. */
uint64_t engine_turn(struct hca_machine *machine);

/* Waits a moment for what may follow this turn. True: the next turn is due at once. */
bool engine_linger(struct hca_machine *machine);

/* Executes what was posted before now, except for most of long messages and queues. */
void engine_catch_up(struct hca_machine *machine);

#endif
