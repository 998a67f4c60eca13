/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Actors: each is one opened device. In mode CONTEXTS all of them live in this process; in mode
 * PROCESSES each is a forked child that opened the device after the fork. A row is written once and
 * runs in both.
 */
#ifndef TESTS_E2E_SHIM_ACTOR_H
#define TESTS_E2E_SHIM_ACTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <infiniband/verbs.h>

#include "../../mask_to.h"

/* errno before each verb. No verb fails with it, so it shows whether errno was left alone. */
#define ERRNO_MARK ENOMEDIUM

/* Slots of each actor for domains, for SRQs and for QPs. Most rows use one domain, in slot D. */
#define SLOTS 8
#define D 0

/*
 * Slots that name no object. A slot keeps the pointer of a closed object, so that rows can pass
 * stale pointers.
 */
enum { NIL = -1, WILD = -2 };	/* a NULL pointer; one that was never handed out */

/* The file of a domain: none (fd -1), a closed one, or one of the row's own. */
enum file { PRIVATE = -1, FILE_A, FILE_B, FILES, CLOSED };

/* Where a PD, a CQ or a new domain is. */
enum place {
	NOWHERE = -1,	/* NULL */
	OWN,		/* the actor's opened device */
	SAME_DEVICE,	/* another context of that device */
	OTHER_DEVICE,	/* a context of the other device */
	PLACES
};

enum request_flags {
	NULL_ATTR = 1 << 0,
	NULL_INIT_ATTR = 1 << 1,
	NULL_QP_NUM = 1 << 2,
	WRITE_ONLY = 1 << 3,		/* otherwise read-only, as Open MPI and GASNet open it */
	/* members that the contract says are not read hold garbage */
	GARBAGE = 1 << 4,
	/* the 64 bytes of a program without XRC, an unmapped page behind them */
	SHORT_INIT_ATTR = 1 << 5,
	/* post_recv arms the CQ; a completion is polled for only after the CQ's event */
	CQ_EVENT = 1 << 6,
	NOTHING = 1 << 7,		/* wait for 50 ms only, as nothing should come */
};

struct actor_state;
struct request;
struct result;

/*
 * A process is a fork of this one, so the function's address is the same there. Requests and
 * results have a fixed size, since they are sent over a socket.
 */
typedef void operation_fn(struct actor_state *state, const struct request *request,
			  struct result *result);

struct request {
	operation_fn *operation;
	const char *name;	/* of the operation, for messages */
	unsigned flags;		/* enum request_flags */
	int device;
	int slot;		/* of the object that the verb makes or takes */
	int dom;		/* a slot, NIL or WILD */
	int srq;		/* a slot or NIL */
	enum file file;
	enum place pd, send_cq, recv_cq, where;
	int oflag;
	int mask;
	uint32_t number;	/* QP number; SRQ number of a send */
	uint32_t bytes, imm;
	enum ibv_qp_type qp_type;
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	struct ibv_srq_attr srq_attr;
};

/* The actor itself compares pointers and memory, which mean nothing in another process. */
struct result {
	int ret;		/* 0, else the error: returned, or in errno behind a NULL or -1 */
	int err;		/* errno afterwards */
	bool intact;		/* the verb wrote only what the contract says it writes */
	bool as_given;		/* the object's or init_attr's pointers are those of the request */
	bool mlnx_layout;	/* number, domain and CQ stand in MLNX_OFED's places as well */
	bool srq_matches;	/* the event's SRQ is the pointer in the request's slot */
	bool qp_matches;
	bool upper_half_zero;	/* of the event's union */
	bool data_matches;	/* the bytes that arrived are those that were sent */
	uint32_t number;	/* QP number, SRQ number or LID; event: element.xrc_qp_num */
	uint32_t raw_number;	/* the bytes at offset 32 of an SRQ */
	uint32_t event_type;
	unsigned changed_ops, library_ops;	/* slots of the ops table */
	enum ibv_qp_type qp_type;
	struct ibv_qp_attr attr; /* do_open_device: ah_attr.grh.dgid is the port's own GID */
	struct ibv_qp_cap cap;	/* of init_attr */
	struct ibv_srq_attr srq_attr;
	struct ibv_wc wc;
};

enum mode { CONTEXTS, PROCESSES, MODES };

/* How an actor ends without destroying its objects. Only processes exit or are killed. */
enum end { BY_CLOSE_DEVICE, BY_EXIT, BY_KILL, ENDS };

extern enum mode actor_mode;

struct actor {
	struct actor_state *state;	/* CONTEXTS */
	pid_t pid;			/* PROCESSES */
	int socket;
	uint16_t lid;			/* of port 1 of its device */
	union ibv_gid gid;
};

/* Returns an actor without a device. Ends the row on failure. */
struct actor *actor_new(void);

/* Returns an actor with this device opened. Ends the row on failure. */
struct actor *actor_open(int device);

/* Returns what the actor answers. Ends the row if it dies or gives no answer in time. */
struct result actor_ask(struct actor *actor, struct request request);

/*
 * Ends the actor and leaves its objects to the kernel. A process has been reaped when this returns.
 */
void actor_end(struct actor *actor, enum end how);

/* Carries out the operation in this process. */
struct result actor_perform(struct actor_state *state, const struct request *request);

/* Returns an actor's objects, none yet. Ends the row on failure. */
struct actor_state *actor_state_new(void);

/* ask(a, reg, .dom = D, .number = qpn) has the actor call do_reg(), with the rest 0. */
#define VERB(verb) .operation = do_##verb, .name = #verb
#define REQUEST(verb, ...) ((struct request){ VERB(verb), __VA_ARGS__ })
#define ask(actor, verb, ...) actor_ask(actor, REQUEST(verb, __VA_ARGS__))

/* An actor's operations. do_destroy_rest: what no row creates itself; the first error. */
operation_fn do_open_device, do_close_device, do_destroy_rest, do_ops;
operation_fn do_exit, do_fork_child;	/* the child exits at once */
operation_fn do_open_domain, do_close_domain;
operation_fn do_create_srq, do_create_plain_srq, do_modify_srq, do_query_srq, do_destroy_srq;
operation_fn do_create_qp, do_modify_qp, do_query_qp, do_destroy_qp;
operation_fn do_create_rcv_qp, do_modify_rcv_qp, do_query_rcv_qp, do_reg, do_unreg;
operation_fn do_post_recv, do_post_send, do_completion;
operation_fn do_get_event, do_ack_event;

/* The usual arguments of the verbs that create objects. A row may override them. */
#define SRQ_USUAL .srq_attr = { .max_wr = 16, .max_sge = 1 }
/* Receive capacities are not 0: MVAPICH leaves RC's there, and libmlx4 took them as 0. */
#define QP_USUAL \
	.srq = NIL, .qp_type = IBV_QPT_XRC, \
	.cap = { .max_send_wr = 16, .max_recv_wr = 7, .max_send_sge = 1, .max_recv_sge = 1, \
		 .max_inline_data = 64 }

/* The verbs as most rows call them. */
#define open_domain(actor, dom_, file_, oflag_) \
	ask(actor, open_domain, .dom = dom_, .file = file_, .oflag = oflag_)
#define open_elsewhere(actor, dom_, where_) \
	ask(actor, open_domain, .dom = dom_, .where = where_, .oflag = O_CREAT)
#define close_domain(actor, dom_) ask(actor, close_domain, .dom = dom_)
#define create_srq(actor, slot_, dom_) \
	ask(actor, create_srq, .slot = slot_, .dom = dom_, SRQ_USUAL)
#define create_plain_srq(actor, slot_) ask(actor, create_plain_srq, .slot = slot_, SRQ_USUAL)
#define modify_srq(actor, slot_, limit) \
	ask(actor, modify_srq, .slot = slot_, .srq_attr = { .srq_limit = limit })
#define query_srq(actor, slot_) ask(actor, query_srq, .slot = slot_)
#define destroy_srq(actor, slot_) ask(actor, destroy_srq, .slot = slot_)
#define create_qp(actor, slot_, dom_) ask(actor, create_qp, .slot = slot_, .dom = dom_, QP_USUAL)
/* An RC QP, in slot 1. */
#define create_rc_qp(actor) plain_qp(actor, IBV_QPT_RC, NIL, GARBAGE)
#define modify_qp(actor, slot_, attr_, mask_) \
	ask(actor, modify_qp, .slot = slot_, .attr = attr_, .mask = mask_)
#define query_qp(actor, slot_, mask_) ask(actor, query_qp, .slot = slot_, .mask = mask_)
#define destroy_qp(actor, slot_) ask(actor, destroy_qp, .slot = slot_)
#define create_rcv_qp(actor, dom_) ask(actor, create_rcv_qp, .dom = dom_, .flags = GARBAGE)
#define modify_rcv_qp(actor, dom_, qpn_, attr_, mask_) \
	ask(actor, modify_rcv_qp, .dom = dom_, .number = qpn_, .attr = attr_, .mask = mask_)
#define query_rcv_qp(actor, dom_, qpn_, mask_) \
	ask(actor, query_rcv_qp, .dom = dom_, .number = qpn_, .mask = mask_)
#define reg(actor, dom_, qpn_) ask(actor, reg, .dom = dom_, .number = qpn_)
#define unreg(actor, dom_, qpn_) ask(actor, unreg, .dom = dom_, .number = qpn_)
#define post_recv(actor, srq_, flags_) ask(actor, post_recv, .srq = srq_, .flags = flags_)
#define post_send(actor, slot_, srq_num, bytes_, imm_) \
	ask(actor, post_send, .slot = slot_, .number = srq_num, .bytes = bytes_, .imm = imm_)
/*
 * One completion of the CQ of QPs, or of that of SRQs; ETIMEDOUT if there is none. flags: CQ_EVENT
 * (SRQs only) or NOTHING.
 */
#define send_completion(actor) ask(actor, completion, .srq = NIL)
#define recv_completion(actor, flags_) ask(actor, completion, .flags = flags_)
/*
 * ETIMEDOUT if there is none. With NOTHING: waits for a moment, and returns the result of
 * ibv_get_async_event on a non-blocking fd. slot: the QP or SRQ that the event's pointer is
 * compared with.
 */
#define get_event(actor, slot_, flags_) ask(actor, get_event, .slot = slot_, .flags = flags_)
#define ack_event(actor) ask(actor, ack_event)

/* What rows do in several steps, in steps.c. A step that fails ends the row. */

/* A number that no QP has, for QPs whose peer does not matter. */
#define PEER_QPN 0x4321

/* Returns a new actor on device 0, with the domain of FILE_A or a private one in D. */
struct actor *with_domain(void);
struct actor *with_private(void);

/* Creates a QP of this type in slot 1, with the SRQ of a slot or without (NIL). */
struct result plain_qp(struct actor *actor, enum ibv_qp_type type, int srq, unsigned flags);

/* Returns the number of the object that was created. */
uint32_t number_of(struct result result);

/* Create a receive QP in D; the second is connected to PEER_QPN on its own port. */
uint32_t new_rcv_qp(struct actor *actor);
uint32_t new_rcv_qp_in_rtr(struct actor *actor);

/* Attributes for all of MASK_INIT, MASK_RTR and MASK_RTS; peer: on whose port the other QP is. */
struct ibv_qp_attr attr_to(enum ibv_qp_state state, const struct actor *peer);

/* Requests to modify an XRC or RC QP, or a receive QP in D. */
#define QP(slot_) REQUEST(modify_qp, .slot = slot_)
#define RCV_QP(qpn_) REQUEST(modify_rcv_qp, .number = qpn_)

/* Brings the QP from RESET up to the state, with full masks. */
void bring(struct actor *actor, struct request qp, enum ibv_qp_state state,
	   const struct actor *peer, uint32_t dest_qp_num);

/*
 * A sender on one device and receivers on the other, as one-way programs connect them (Open MPI 1.6
 * xoob, MVAPICH2).
 */
struct wire {
	struct actor *sender;	/* XRC QP in slot 0, in a domain of its own */
	struct actor *receiver;	/* created the receive QP in D; XRC SRQ in slot 0 */
	uint32_t send_qpn, rcv_qpn, srq_num;
};

/* Returns a connected wire: the XRC QP is in RTS, the receive QP in RTR in this file's domain. */
struct wire wire_new(enum file file);

/* Returns another receiver in the domain of FILE_A, with an SRQ in slot 0, not registered. */
struct actor *wire_join(uint32_t *srq_num);

/* Sends a message, and waits for its completion, which must be good. */
void wire_send(const struct wire *wire, uint32_t srq_num, uint32_t bytes, uint32_t imm);

/*
 * Waits for the completion of the SRQ in slot 0 of `receiver`, and expects the bytes that were
 * sent. flags: CQ_EVENT.
 */
void wire_arrives(const struct wire *wire, struct actor *receiver, uint32_t srq_num, uint32_t bytes,
		  uint32_t imm, unsigned flags);

/* Posts a receive, sends a message to it, and expects that it arrives. */
void wire_deliver(const struct wire *wire, struct actor *receiver, uint32_t srq_num, uint32_t bytes,
		  uint32_t imm);

#endif
