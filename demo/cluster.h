/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The demo cluster: what its files share. One sender and N receivers are forked. Each runs from its
 * first to its last line by itself. Where one needs another, it waits for a number in the memory
 * that they share.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>

#include "../tests/rc_masks.h"

#define SENDER_DEVICE 0
#define RECEIVER_DEVICE 1
#define PORT 1
#define MAX_RECEIVERS 32
#define SENDER MAX_RECEIVERS	/* its index in members */
#define MAX_MESSAGE (1u << 20)

/* Where a process can be reached, and how. */
struct address {
	union ibv_gid gid;
	uint64_t region;	/* where RDMA writes land */
	uint32_t rkey;
	uint32_t qp_num;	/* of a receiver: that of the receive QP */
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

/* How far a process is. */
enum phase {
	PHASE_OPENED = 1,	/* its address is known */
	PHASE_REGISTERED,	/* receiver: registered with the receive QP */
	PHASE_UNREGISTERED,	/* receiver: no longer registered, but it has its SRQ */
	PHASE_LAST_WORD,	/* sender: has sent to an SRQ that no receive QP leads to */
	PHASE_GONE,		/* has closed everything */
};

struct member {
	pid_t pid;
	unsigned int phase;
	struct address address;	/* valid in PHASE_OPENED; qp_num of a receiver: in REGISTERED */
	struct counts counts;
};

/* Shared by all processes. */
extern struct cluster {
	/* options */
	unsigned int receivers;		/* 1..MAX_RECEIVERS */
	unsigned int iterations;	/* rounds before the first receiver leaves, 1.. */
	unsigned int timeout;		/* seconds that any one step may take */
	bool events;			/* sleep on a completion channel instead of polling */

	bool failed;			/* a process has failed: the others end, too */
	unsigned int rounds;		/* that the sender has begun */
	enum ibv_wc_status last_word;	/* how the sender's last message ended */
	struct member members[MAX_RECEIVERS + 1];
} *cluster;

/* Returns the rounds in which a receiver takes part. Then it leaves: receiver 0 first. */
static inline unsigned int rounds_of(unsigned int receiver)
{
	return cluster->iterations + receiver;
}

/* ---- process.c: a process of the cluster, and how it ends ---- */

/* Tells process.c which member this process is. */
void process_begin(unsigned int member);

/* Prints a line on stderr, with the names of the program and the process. */
void process_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sets the device that process_abandon() is to close, NULL for none. */
void process_opened(struct ibv_context *context);

/*
 * Closes the device with all its objects, and exits with status 1. Without the close, the library
 * would leave the process's file of the registration table.
 */
void process_abandon(void) __attribute__((noreturn));

/* As process_say, then process_abandon. */
void process_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * Begins a step, which may take the time of the option -t. `what` must stay valid. After that time
 * SIGALRM prints it and ends the process, since a verb that blocks cannot be interrupted otherwise.
 * NULL: a step without a limit.
 */
void process_step(const char *what);

/* Tells the others how far this process is. */
void process_reached(enum phase phase);

/* Ends this process if another has failed. */
void process_go_on(void);

/* Waits until a number in the shared memory is at least `value`. */
void process_await(const unsigned int *number, unsigned int value);

/* A verb that returns 0, and one that returns a pointer. If it fails, the process ends. */
#define DO(verb, ...) process_must(#verb, verb(__VA_ARGS__))
#define MAKE(verb, ...) process_made(#verb, verb(__VA_ARGS__))

void process_must(const char *verb, int err);
void *process_made(const char *verb, void *object);

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

#define PLAN_LENGTH 12u
#define NOTE_SIZE 16u		/* bytes of the SEND after an RDMA write */
#define REGION_SIZE (64u + 4096u + 65536u + MAX_MESSAGE)

extern const struct planned plan[PLAN_LENGTH];

/* Determines the contents of a message. note: the SEND after a write. */
uint64_t plan_key(uint32_t receiver, uint32_t round, uint32_t number, bool note);
uint32_t plan_imm(uint32_t receiver, uint32_t round, uint32_t number);

void pattern_fill(void *buffer, uint32_t size, uint64_t key);

/* Returns the offset of the first wrong byte, or size. */
uint32_t pattern_check(const void *buffer, uint32_t size, uint64_t key);

/* ---- endpoint.c: the device of this process ---- */

extern struct endpoint {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_xrc_domain *domain;
	enum ibv_mtu mtu;
	uint8_t *memory;
	struct ibv_mr *mr;
	struct member *self;
} endpoint;

/* Ends the process, and says why, unless there are two devices with XRC. */
void endpoint_probe(void);

/* Opens a device with a CQ and registered memory, in the domain of fd (-1: private). */
void endpoint_open(unsigned int member, int fd, uint32_t memory_size);

/* Closes all, the domain first, as old programs did. */
void endpoint_close(void);

/* Returns the next completion, any status. Ends the process at the timeout. */
struct ibv_wc endpoint_wait(void);

/* Returns the attributes of MASK_INIT and MASK_RTR. */
struct ibv_qp_attr endpoint_init_attr(int access);
struct ibv_qp_attr endpoint_rtr_attr(const struct address *peer);

/* ---- the processes, and the result ---- */

void sender_run(void);
void receiver_run(unsigned int number, int domain_fd);

/* Prints the result. Returns whether every message arrived as it was sent. */
bool table_print(void);

#endif
