/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The self-test's processes: the coordinator asks over a socket, an actor uses the verbs and
 * answers. An actor on another host is the same behind TCP. The coordinator opens no device itself,
 * and never waits without a limit.
 */
#ifndef SELFTEST_ACTOR_H
#define SELFTEST_ACTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>

#define ANSWER_SECONDS 20
#define ACTOR_LIFETIME 300	/* seconds, should everything else fail */
#define PATH_SIZE 256
#define DEVICE_SIZE 64

enum op {
	OP_OPEN_DEVICE = 1,	/* text: its name, "" for any that has XRC; flags: two-way */
	OP_OPEN_DOMAIN,		/* text: path, "" private, "-" a closed descriptor; flags: oflag */
	OP_CREATE_SRQ,
	OP_CREATE_RCV_QP,
	OP_MODIFY_RCV_QP,	/* qp_num, peer: to INIT, then to RTR */
	OP_QUERY_RCV_QP,	/* qp_num */
	OP_REG,			/* qp_num */
	OP_UNREG,		/* qp_num */
	OP_CREATE_XRC_QP,
	OP_CONNECT,		/* peer: to INIT, RTR, RTS */
	OP_SEND,		/* srq_num, seed; answers the status of the completion */
	OP_RECEIVE,		/* seed; answers the status and the QP number of the completion */
	OP_GET_EVENT,		/* answers its type and QP number */
	OP_DESTROY_SRQ,
	OP_DESTROY_XRC_QP,
	OP_CLOSE_DOMAIN,
	OP_CLOSE_DEVICE,
};

/* Where an actor can be reached. */
struct address {
	union ibv_gid gid;
	uint32_t qp_num;
	uint16_t lid;
	uint16_t mtu;		/* enum ibv_mtu */
};

struct request {
	uint32_t op;		/* enum op */
	int32_t flags;
	uint32_t qp_num, srq_num, seed;
	struct address peer;
	char text[PATH_SIZE];
};

struct answer {
	int32_t err;		/* 0, errno of the verb, or one of the two below */
	uint32_t qp_num, srq_num;
	uint32_t status;	/* enum ibv_wc_status */
	uint32_t state;		/* enum ibv_qp_state */
	uint32_t qp_type, event_type;
	struct address self;
	char text[DEVICE_SIZE];	/* name of the device; which verb failed */
};

#define ANSWER_SILENT 10001	/* no answer in time */
#define ANSWER_GONE 10002	/* the process ended */

struct actor {
	const char *name;
	pid_t pid;		/* 0: on another host */
	int socket;
};

/** actor_start - fork one. 0 or a positive errno. */
int actor_start(struct actor *actor, const char *name);

/**
 * actor_connect - use one on another host, where the self-test listens. 0, a positive errno, or a
 * number of getaddrinfo().
 */
int actor_connect(struct actor *actor, const char *name, const char *host, const char *port);

/** actor_error - what such a result means. */
const char *actor_error(int err);

/**
 * actor_serve - let the self-test of another host use this host's device until it is done. An exit
 * status.
 */
int actor_serve(const char *port, const char *device, unsigned int seconds);

/** actor_ask - never fails by itself: what went wrong is in the answer. */
struct answer actor_ask(struct actor *actor, const struct request *request);

/** actor_kill - kill -9, and wait until the kernel has released everything. */
void actor_kill(struct actor *actor);

/**
 * actor_run - answers until the other side hangs up; does not return. device: what OP_OPEN_DEVICE
 * without a name means.
 */
void actor_run(int socket, const char *device) __attribute__((noreturn));

/** actor_error_text - for every value of answer.error. */
const char *actor_error_text(int err);

/** perform - carry out one request. */
void perform(const struct request *request, struct answer *answer);

/* The state of the actor that this process is; perform.c and perform_qp.c share it. */
struct holdings {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct ibv_xrc_domain *domain;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct address self;
	uint8_t port;
};

extern struct holdings mine;

void perform_qp(const struct request *request, struct answer *answer);

/**
 * perform_failed - note which verb failed and how; error 0 is success. Returns whether it failed.
 */
bool perform_failed(struct answer *answer, const char *verb, int err);

#define SLOT_SIZE 4096u		/* of memory; SLOTS to receive into, one more to send from */
#define SLOTS 4u
#define MESSAGE_SIZE 1500u

/** post_slot - make a slot ready to receive. 0 or a positive errno. */
int post_slot(uint64_t slot);

#endif
