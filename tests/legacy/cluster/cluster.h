/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The demo cluster: what its processes share. A coordinator forks a sender and N receivers and tells them over socket
 * pairs what to do; it opens no device itself.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define SENDER_DEVICE 0
#define RECEIVER_DEVICE 1
#define PORT 1
#define MAX_RECEIVERS 32
#define MAX_MESSAGE (1u << 20)

struct options {
	unsigned int receivers;		/* 1..MAX_RECEIVERS */
	unsigned int iterations;	/* rounds before anybody leaves, 1.. */
	unsigned int timeout;		/* seconds that any one step may take */
	bool events;			/* sleep on a completion channel instead of polling */
};

/* ---- control.c: the coordinator's word ---- */

enum control_verb {
	CONTROL_HELLO = 1,	/* child: my addresses */
	CONTROL_CREATE,		/* receiver: create the receive QP for the sender in here */
	CONTROL_REGISTER,	/* receiver: register with the receive QP in here */
	CONTROL_TARGET,		/* sender: a receiver you will send to */
	CONTROL_CONNECT,	/* sender: connect to the receive QP in here */
	CONTROL_ROUND,		/* one round of messages, to or from the receivers in `present` */
	CONTROL_UNREGISTER,	/* receiver: cancel the registration, keep the SRQ */
	CONTROL_LEAVE,		/* receiver: cancel the registration if there is one, close everything and exit */
	CONTROL_LAST_WORD,	/* sender: send to a receiver that nobody is registered for any more */
	CONTROL_QUIT,		/* sender: close everything and exit */
	CONTROL_ABORT,		/* somebody failed: exit at once */
	CONTROL_DONE,		/* child: did it; the counts are mine so far */
};

/* Where a process can be reached, and how. */
struct address {
	union ibv_gid gid;
	uint64_t region;	/* where RDMA writes land */
	uint32_t rkey;
	uint32_t qp_num;
	uint32_t srq_num;
	uint32_t psn;
	uint16_t lid;
};

struct counts {
	uint64_t messages;
	uint64_t bytes;
	uint64_t verified;	/* messages whose every byte was right */
	uint64_t named;		/* receive completions whose qp_num was the receive QP's */
};

struct control {
	enum control_verb verb;
	uint32_t receiver;
	uint32_t round;
	uint32_t present;	/* bit per receiver */
	uint32_t status;	/* LAST_WORD: enum ibv_wc_status of the message */
	struct address address;
	struct counts counts;
};

/** control_send - 0, or -1 with errno: EPIPE if the other side is gone. */
int control_send(int socket, const struct control *control);

/** control_receive - waits at most `milliseconds`. 0, or -1 with errno: ETIMEDOUT, EPIPE if the other side is gone. */
int control_receive(int socket, struct control *control, int milliseconds);

/** control_hung_up - whether the other side is gone. Messages that it left may still be waiting. */
bool control_hung_up(int socket);

/* ---- process.c: a process of the cluster and how it ends ---- */

/** process_name - say who speaks in messages, and what the watchdog says. */
void process_name(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** process_say - one line on stderr, headed by the program and the process. */
void process_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** process_opened - the device that process_abandon is to close, NULL for none. */
void process_opened(struct ibv_context *context);

/**
 * process_abandon - close the device with all that is in it and exit with status 1. The kernel would do that, but what
 * this process shares with others ends better by its own hand.
 */
void process_abandon(void) __attribute__((noreturn));

/** process_fail - as process_say, then process_abandon. */
void process_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/**
 * process_step - a step begins that may take `seconds`; `what` must stay. A verb that blocks for ever cannot be
 * interrupted otherwise, so SIGALRM says what it was and ends the process.
 */
void process_step(const char *what, unsigned int seconds);

/* ---- plan.c: what is sent in a round, known to both sides ---- */

enum message_kind {
	MESSAGE_SEND,
	MESSAGE_SEND_IMM,
	MESSAGE_WRITE,		/* RDMA write into the receiver's region, then a short SEND that tells of it */
};

struct planned {
	enum message_kind kind;
	uint32_t size;		/* bytes */
	uint32_t offset;	/* MESSAGE_WRITE: in the region */
};

#define NOTE_SIZE 16u		/* bytes of the SEND after an RDMA write */

unsigned int plan_length(void);
uint32_t plan_region_size(void);
const struct planned *plan_message(unsigned int number);

/** plan_key - what the contents of a message follow from. note: the SEND after a write. */
uint64_t plan_key(uint32_t receiver, uint32_t round, uint32_t number, bool note);
uint32_t plan_imm(uint32_t receiver, uint32_t round, uint32_t number);

void pattern_fill(void *buffer, uint32_t size, uint64_t key);

/** pattern_check - the first byte that is wrong, or size. */
uint32_t pattern_check(const void *buffer, uint32_t size, uint64_t key);

/* ---- endpoint.c: one opened device ---- */

struct endpoint {
	const struct options *options;
	int socket;		/* to the coordinator, -1 in the probe */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_xrc_domain *domain;
	struct address address;	/* lid and gid are known once it is open */
	enum ibv_mtu mtu;
	uint8_t *memory;
	struct ibv_mr *mr;
};

/** endpoint_open - device by index, with a CQ and registered memory, in the domain of fd (-1: a private one). */
void endpoint_open(struct endpoint *endpoint, int device, int fd, uint32_t memory_size);

/** endpoint_close - everything, the domain first as old programs did. Fails loudly if anything is still in use. */
void endpoint_close(struct endpoint *endpoint);

/** endpoint_wait - the next completion, any status. Ends the process at the timeout or if the coordinator gives up. */
struct ibv_wc endpoint_wait(struct endpoint *endpoint);

/* The masks that RC and old XRC QPs need, of every kind. */
#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
		  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
		  IBV_QP_MAX_QP_RD_ATOMIC)

/** endpoint_init_attr, endpoint_rtr_attr - what belongs to INIT_MASK and RTR_MASK. */
struct ibv_qp_attr endpoint_init_attr(int access);
struct ibv_qp_attr endpoint_rtr_attr(const struct endpoint *endpoint, const struct address *peer);

/* ---- the processes ---- */

/** probe_run - in a child: two devices with XRC? Says what is missing and exits. */
void probe_run(const struct options *options) __attribute__((noreturn));

void sender_run(const struct options *options, int socket) __attribute__((noreturn));

void receiver_run(const struct options *options, int socket, int domain_fd, unsigned int number)
	__attribute__((noreturn));

/** coordinate - the whole run. Returns the exit status. */
int coordinate(const struct options *options, int domain_fd);

#endif
