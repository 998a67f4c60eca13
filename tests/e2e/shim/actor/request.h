/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What an actor can be asked to do, and what it answers. The structs have a fixed size, since they
 * are sent over a socket when the actor is a process of its own. That process is a fork of this
 * one, so the function's address is the same there.
 */
#ifndef TESTS_E2E_SHIM_REQUEST_H
#define TESTS_E2E_SHIM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/* errno before each verb. No verb fails with it, so it shows whether errno was left alone. */
#define ERRNO_MARK ENOMEDIUM

/* Slots of each actor for domains, for SRQs and for QPs. */
#define SLOTS 8

/*
 * Slots that name no object. A slot keeps the pointer of a closed object, so that rows can pass
 * stale pointers.
 */
enum { NIL = -1, WILD = -2 };	/* a NULL pointer; one that was never handed out */

/* Where a PD, a CQ or a new domain is. */
enum place {
	NOWHERE = -1,	/* NULL */
	OWN,		/* the actor's opened device */
	SAME_DEVICE,	/* another context of that device */
	OTHER_DEVICE,	/* a context of the other device */
	PLACES
};

enum request_flags {
	FD_PRIVATE = 1 << 0,		/* fd -1 */
	FD_CLOSED = 1 << 1,		/* the number of a closed fd */
	FD_WRITE_ONLY = 1 << 2,		/* otherwise read-only, as Open MPI and GASNet open it */
	FD_CLOSE_AFTER = 1 << 3,	/* close the file right after the call, as GASNet does */
	NULL_CONTEXT = 1 << 4,
	NULL_ATTR = 1 << 5,
	NULL_INIT_ATTR = 1 << 6,
	NULL_QP_NUM = 1 << 7,
	/* members that the contract says are not read hold garbage */
	GARBAGE = 1 << 8,
	/* the 64 bytes of a program without XRC, an unmapped page behind them */
	SHORT_INIT_ATTR = 1 << 9,
	/* post_recv arms the CQ; a completion is polled for only after the CQ's event */
	CQ_EVENT = 1 << 10,
	DRAIN = 1 << 11,		/* wait for 200 ms only, as nothing should come */
	ACK_WITHOUT_FLAG = 1 << 12,	/* some programs clear the flag and do not set it again */
};

struct actor_state;
struct request;
struct result;

typedef void operation_fn(struct actor_state *state, const struct request *request,
			  struct result *result);

/* An actor's operations. do_destroy_rest: MR, CQs, channel, PD and device; the first error. */
operation_fn do_open_device, do_close_device, do_destroy_rest;
operation_fn do_exit, do_fork_child;	/* the child exits at once */
operation_fn do_open_domain, do_close_domain;
operation_fn do_create_srq, do_create_plain_srq, do_modify_srq, do_query_srq, do_destroy_srq;
operation_fn do_create_qp, do_modify_qp, do_query_qp, do_destroy_qp;
operation_fn do_create_rcv_qp, do_modify_rcv_qp, do_query_rcv_qp, do_reg, do_unreg;
operation_fn do_post_recv, do_post_send, do_completion;
operation_fn do_get_event, do_ack_event;
operation_fn do_remember_ops, do_compare_ops;

/* Members of a request: OPERATION(reg) asks for do_reg(). */
#define OPERATION(name_) .operation = do_##name_, .name = #name_

struct request {
	operation_fn *operation;
	const char *name;	/* of the operation, for messages */
	unsigned flags;		/* enum request_flags */
	int device;
	int slot;		/* of the object that the verb makes or takes */
	int dom;		/* a slot, NIL or WILD */
	int srq;		/* a slot or NIL */
	enum place pd, send_cq, recv_cq, where;
	int oflag;
	int mask;
	int timeout_ms;
	uint32_t number;	/* QP number; SRQ number of a send */
	uint32_t bytes, imm;
	enum ibv_qp_type qp_type;
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	struct ibv_srq_attr srq_attr;
	char path[128];
};

/* The actor itself compares pointers and memory, which mean nothing in another process. */
enum result_facts {
	CONTEXT_MATCHES = 1 << 0,	/* the object's context is the actor's */
	PD_MATCHES = 1 << 1,
	DOMAIN_MATCHES = 1 << 2,	/* xrc_domain is the one given */
	CQ_MATCHES = 1 << 3,
	USER_CONTEXT_MATCHES = 1 << 4,	/* srq_context, qp_context */
	/* number, domain and CQ stand in MLNX_OFED's places as well */
	MLNX_LAYOUT_MATCHES = 1 << 5,
	REST_INTACT = 1 << 6,		/* the verb wrote only what the contract says it writes */
	POINTERS_NULL = 1 << 7,		/* qp_context, both CQs and srq of a queried init_attr */
	SRQ_MATCHES = 1 << 8,		/* the event's SRQ is the pointer in the request's slot */
	QP_MATCHES = 1 << 9,
	UPPER_HALF_ZERO = 1 << 10,	/* of the event's union */
	DATA_MATCHES = 1 << 11,		/* the bytes that arrived are those that were sent */
};

struct result {
	int ret;		/* 0, else the error: returned, or in errno behind a NULL or -1 */
	int err;		/* errno afterwards */
	unsigned facts;		/* enum result_facts */
	uint32_t number;	/* QP number, SRQ number or LID; event: element.xrc_qp_num */
	uint32_t raw_number;	/* the bytes at offset 32 of an SRQ */
	uint32_t event_type;
	enum ibv_qp_type qp_type;
	struct ibv_qp_attr attr; /* do_open_device: ah_attr.grh.dgid is the port's own GID */
	struct ibv_qp_cap cap;	/* of init_attr */
	struct ibv_srq_attr srq_attr;
	struct ibv_wc wc;
	char text[256];
};

/** actor_state_new - an actor without a device yet; NULL when there is no memory. */
struct actor_state *actor_state_new(void);

/** perform - do it, here and now. */
struct result perform(struct actor_state *state, const struct request *request);

#endif
