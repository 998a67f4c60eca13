/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The demo cluster: a sender and N receivers, each a process from its first line to its last. A
 * process that needs another waits for the other's phase in the memory that they share. It is built
 * as an old program, with its own include path.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>

#include "../abi/rc_masks.h"

#define MAX_RECEIVERS 32
#define SENDER MAX_RECEIVERS	/* its index in members */

enum phase {
	PHASE_READY = 1,	/* its numbers are valid; a receiver is registered */
	PHASE_LEFT,		/* a receiver is no longer registered, but has its SRQ */
	PHASE_GONE,		/* has closed everything */
};

struct member {
	char name[16];
	pid_t pid;
	enum phase phase;
	union ibv_gid gid;
	uint16_t lid;
	uint32_t qp_num;	/* of a receiver: that of the receive QP */
	uint32_t srq_num;
	uint64_t messages;
	uint64_t bytes;
	uint64_t verified;	/* messages whose every byte was right */
};

/* Shared by all processes. */
extern struct cluster {
	unsigned int receivers;		/* 1..MAX_RECEIVERS */
	unsigned int iterations;	/* rounds before the first receiver leaves, 1.. */
	bool events;			/* sleep on a completion channel instead of polling */
	enum ibv_wc_status last_word;	/* how the sender's last message ended */
	struct member members[MAX_RECEIVERS + 1];
} *cluster;

extern struct member *self;

void sender_run(void);
void receiver_run(unsigned int number, int domain_fd);

/* Returns the rounds in which a receiver takes part. Then it leaves: receiver 0 first. */
static inline unsigned int rounds_of(unsigned int receiver)
{
	return cluster->iterations + receiver;
}

/* ---- main.c: the processes ---- */

void reached(enum phase phase);
void await(unsigned int member, enum phase phase);

/* Prints a line on stderr, with the name of the process, and ends the process. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* A verb that returns 0, and one that returns a pointer. If it fails, the process ends. */
#define DO(verb, ...) must(#verb, verb(__VA_ARGS__))
#define MAKE(verb, ...) made(#verb, verb(__VA_ARGS__))

void must(const char *verb, int err);
void *made(const char *verb, void *object);

/* ---- endpoint.c: the device of this process, and the messages ---- */

extern struct endpoint {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;	/* NULL without the option -e */
	struct ibv_cq *cq;
	struct ibv_xrc_domain *domain;
	uint8_t *memory;
	struct ibv_mr *mr;
} endpoint;

/* Opens a device, with memory for `buffers` messages, in the domain of fd (-1: private). */
void endpoint_open(int fd, unsigned int buffers);

/* Closes all, the domain first, as old programs did. */
void endpoint_close(void);

/* Waits for the next completion, of any status. */
struct ibv_wc endpoint_wait(void);

/* Return the attributes of MASK_INIT and MASK_RTR. */
struct ibv_qp_attr init_attr(void);
struct ibv_qp_attr rtr_attr(const struct member *peer);
#define FIRST_PSN 0x123456

#define PLAN_LENGTH 8u	/* messages that a receiver gets in a round */
#define MAX_MESSAGE (1u << 20)
extern const uint32_t plan[PLAN_LENGTH];	/* their sizes in bytes */

/* Returns the immediate data of a message, which also determines its bytes. */
uint32_t message_key(uint32_t receiver, uint32_t round, uint32_t number);
void message_fill(void *buffer, uint32_t size, uint32_t key);

#endif
