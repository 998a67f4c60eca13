/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The demo cluster: what its files share. A coordinator, which opens no device itself, forks a
 * sender and N receivers and tells them over socket pairs what to do.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../tests/rc_masks.h"

#define SENDER_DEVICE 0
#define RECEIVER_DEVICE 1
#define PORT 1
#define MAX_RECEIVERS 32
#define MAX_MESSAGE (1u << 20)

struct options {
	unsigned int receivers;		/* 1..MAX_RECEIVERS */
	unsigned int iterations;	/* rounds before the first receiver leaves, 1.. */
	unsigned int timeout;		/* seconds that any one step may take */
	bool events;			/* sleep on a completion channel instead of polling */
};

/* ---- control.c: messages of the coordinator, and answers ---- */

enum control_verb {
	CONTROL_HELLO = 1,	/* child: my addresses */
	CONTROL_CREATE,		/* receiver: create the receive QP for the sender in address */
	CONTROL_REGISTER,	/* receiver: register with the receive QP in address */
	CONTROL_TARGET,		/* sender: remember this receiver's address */
	CONTROL_CONNECT,	/* sender: connect to the receive QP in address */
	CONTROL_ROUND,		/* one round of messages, to or from the receivers in `present` */
	CONTROL_UNREGISTER,	/* receiver: cancel the registration, keep the SRQ */
	/* receiver: cancel the registration if there is one, close everything and exit */
	CONTROL_LEAVE,
	/* sender: send to a receiver when no process is registered with the receive QP any more */
	CONTROL_LAST_WORD,
	CONTROL_QUIT,		/* sender: close everything and exit */
	CONTROL_ABORT,		/* a process failed: exit at once */
	CONTROL_DONE,		/* child: done; counts are its sums so far */
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

/**
 * control_receive - waits at most `milliseconds`. 0, or -1 with errno: ETIMEDOUT, EPIPE if the
 * other side is gone.
 */
int control_receive(int socket, struct control *control, int milliseconds);

/**
 * control_hung_up - whether the other side is gone. There may still be messages that it sent
 * before.
 */
bool control_hung_up(int socket);

/* ---- process.c: a process of the cluster and how it ends ---- */

/** process_name - sets the name of this process in its messages. */
void process_name(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** process_say - prints a line on stderr, with the names of the program and the process. */
void process_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** process_opened - the device that process_abandon is to close, NULL for none. */
void process_opened(struct ibv_context *context);

/**
 * process_abandon - close the device with all its objects, and exit with status 1. Without the
 * close, the library would leave the process's file of the registration table.
 */
void process_abandon(void) __attribute__((noreturn));

/** process_fail - as process_say, then process_abandon. */
void process_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/**
 * process_step - begins a step that may take `seconds` (0: any time); `what` must stay valid. After
 * that time SIGALRM prints it and ends the process, since a verb that blocks cannot be interrupted
 * otherwise.
 */
void process_step(const char *what, unsigned int seconds);

/* ---- plan.c: the messages of a round, which both sides know ---- */

enum message_kind {
	MESSAGE_SEND,
	MESSAGE_SEND_IMM,
	/* RDMA write into the receiver's region, then a short SEND, the note */
	MESSAGE_WRITE,
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

/** plan_key - determines the contents of a message. note: the SEND after a write. */
uint64_t plan_key(uint32_t receiver, uint32_t round, uint32_t number, bool note);
uint32_t plan_imm(uint32_t receiver, uint32_t round, uint32_t number);

void pattern_fill(void *buffer, uint32_t size, uint64_t key);

/** pattern_check - the offset of the first wrong byte, or size. */
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
	struct address address;	/* lid and gid are set when it is opened */
	enum ibv_mtu mtu;
	uint8_t *memory;
	struct ibv_mr *mr;
};

/**
 * endpoint_open - device by index, with a CQ and registered memory, in the domain of fd (-1: a
 * private one).
 */
void endpoint_open(struct endpoint *endpoint, int device, int fd, uint32_t memory_size);

/**
 * endpoint_close - closes all, the domain first, as old programs did. Ends the process if anything
 * is still in use.
 */
void endpoint_close(struct endpoint *endpoint);

/**
 * endpoint_wait - the next completion, any status. Ends the process at the timeout or if the
 * coordinator gives up.
 */
struct ibv_wc endpoint_wait(struct endpoint *endpoint);

/** endpoint_init_attr, endpoint_rtr_attr - the attributes of MASK_INIT and MASK_RTR. */
struct ibv_qp_attr endpoint_init_attr(int access);
struct ibv_qp_attr endpoint_rtr_attr(const struct endpoint *endpoint, const struct address *peer);

/* ---- the processes ---- */

/**
 * probe_run - in a child: checks that there are two devices with XRC, and exits. Prints what is
 * missing.
 */
void probe_run(const struct options *options) __attribute__((noreturn));

void sender_run(const struct options *options, int socket) __attribute__((noreturn));

void receiver_run(const struct options *options, int socket, int domain_fd, unsigned int number)
	__attribute__((noreturn));

/** coordinate - the whole run. Returns the exit status. */
int coordinate(const struct options *options, int domain_fd);

#endif
