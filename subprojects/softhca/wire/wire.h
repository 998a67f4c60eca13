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
	PART, /* a piece has arrived, the next may follow */
	SENT, /* done; or, on UC and UD, sent without an answer */
	LOST, /* no answer: retry after the transport timeout */
	NOT_READY, /* no receive buffer: retry after the peer's RNR timer; UC drops it */
	FAILED, /* with a syndrome */
	AWAY, /* on its way to another machine, which will answer */
	HELD, /* it cannot be sent yet; whatever holds it makes its QP ready again */
	DROPPED, /* by the receiver, because of an error: UC has no NAK */
};

/* An attempt to execute a request. The sender's completion comes before the peer's. */
struct attempt {
	struct hca_qp *qp;
	const struct wqe *wqe;
	struct hca_qp *peer;
	uint8_t syndrome;     /* of FAILED */
	uint8_t rnr_timer;    /* of NOT_READY, from another machine */
	bool peer_fails;      /* goes to ERR */
	bool sender_fails; /* after PART or SENT: it was its own receiver */
	int event;	      /* enum ibv_event_type, raised on the peer if it fails; -1 = none */
	struct mem_vec local; /* the sender's data */
	uint64_t offset;      /* bytes of the message that were sent before */
	uint64_t part;	      /* bytes that are sent now */
	bool last;	      /* with them the message is complete */
};

/* ---- a request at its receiver (operation.c) ---- */

/* FAILED with this syndrome at the sender. */
enum outcome operation_fail(struct attempt *attempt, enum syndrome syndrome);

/* Reads and atomics: what comes back is written at the sender. */
bool operation_changes_sender(const struct wqe *wqe);
bool operation_is_atomic(const struct wqe *wqe);

/* Bytes of the word that an atomic changes. */
#define OPERATION_ATOMIC sizeof(uint64_t)

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

/*
 * Sends one. It is SENT even if it was lost; FAILED by errors at the sender only; HELD until a
 * frame to another machine is free.
 */
enum outcome datagram_execute(struct attempt *attempt);

/* ---- one work request on the wire (transport.c) ---- */

#define TRANSPORT_MAX_MESSAGE 0x40000000u

/* A longer message is moved in such pieces, multiples of every MTU. Faults hit whole pieces. */
#define TRANSPORT_PIECE ((uint64_t)256 << 10)

/* Sends the next piece of the request. */
enum outcome transport_execute(struct attempt *attempt);

/* Delivers the piece at hand of a request whose sender is at fault in nothing. */
enum outcome transport_deliver(struct attempt *attempt);

/* ---- what goes to another machine (far.c) ---- */

/* Pieces are shorter there, so that their copies and their transfer overlap. */
#define FAR_PIECE ((uint64_t)64 << 10)

/* The machine of the port that @lid names; -1 = this one, or no port has it. */
int far_machine(uint16_t lid);

/* The device of @machine whose port @lid names, or NULL. */
struct hca_device *far_device(uint16_t lid, int machine, uint8_t *port);

/* Whether the connected QP sends to another machine. */
bool far_is_peer(const struct hca_qp *qp);

/* Sends the piece at hand of a reliable QP. AWAY; HELD, LOST or FAILED. */
enum outcome far_send(struct attempt *attempt);

/* Sends the piece at hand, which gets no answer, to @machine. SENT or PART; HELD or FAILED. */
enum outcome far_cast(struct attempt *attempt, int machine);

/* ... and to all other machines. */
enum outcome far_cast_all(struct attempt *attempt);

/* The functions for fabric_open() (answer.c, far.c, serve.c). */
void far_has_room(void);
void far_take_answer(int machine, const void *body, size_t length);
void far_take_request(int machine, const void *body, size_t length);

void far_init(struct hca_machine *machine);
/* The machine of far_init(), or NULL. */
struct hca_machine *far_here(void);

/* ---- the packets of a capture (tap.c); without one these do nothing ---- */

/* The piece at hand, whether it arrives or not. */
void tap_request(const struct attempt *attempt);
void tap_datagram(const struct attempt *attempt, uint32_t qkey);

/* What attempt->peer answers to it. */
void tap_answer(const struct attempt *attempt, enum outcome outcome);

/* ---- work requests on their way: executed and retried (send.c) ---- */

/* Waits for the answer to what is away, as long as the QP is patient. */
void send_await(struct hca_qp *qp);

/* What becomes of the oldest request or piece by its outcome. True if more may follow at once. */
bool send_conclude(struct hca_qp *qp, struct attempt *attempt, enum outcome outcome);

/* The peer's part of a failed request. */
void send_fail_peer(const struct attempt *attempt);

/* Executes some requests of each QP in the list of work. False: the list is empty then. */
bool send_run(struct hca_machine *machine);

/* ---- the HCAs' own activity: doorbells, work requests, retries (engine.c) ---- */

/* Does what there is to do. Nanoseconds to the next turn; UINT64_MAX: until something comes. */
uint64_t engine_turn(struct hca_machine *machine);

/* Waits a moment for what may follow this turn. True: the next turn is due at once. */
bool engine_linger(struct hca_machine *machine);

/* Executes what was posted before now. Long messages and queues go on in later turns. */
void engine_catch_up(struct hca_machine *machine);

#endif
