/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The coordinator sends each step of a table to an actor, over a socket or through ssh. The actor
 * has the same table. The coordinator opens no device itself, and never waits without a limit.
 */
#ifndef TOOLS_SELFTEST_H
#define TOOLS_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <infiniband/verbs.h>

/* In this order: one-way receivers, then the sender; the two-way ones are last. */
enum role {
	CREATOR,	/* creates the receive QP and leaves first */
	SURVIVOR,	/* registers, and is the last */
	VICTIM,		/* registers, and is killed */
	SENDER,		/* may be on another host */
	VISITOR,	/* checks at the end that nothing is left */
	TWO_WAY,
	TWO_WAY_PEER,	/* may be on another host */
	ACTORS
};

/* Results of a step that are no errno. Up to GREETED the process gave no answer. */
enum {
	SILENT = 10001,	/* no answer in time */
	GONE,		/* the process ended */
	GREETED,	/* the process printed something other than an answer */
	WRONG,		/* the text says what is wrong */
	NO_DEVICE,	/* no device can be tested; the text says why */
	LIMITED,	/* the kernel cannot do it; the text names the limit */
	UNTRIED,	/* of a check: an earlier check, which it needs, failed */
};

struct step {
	enum role role;		/* the actor that carries it out */
	void (*run)(void);	/* a function of actor.c; NULL: this row begins a check */
	int wanted;		/* the expected result: 0, an errno, or one of the above */
	/* What some of the functions use: */
	int oflag; /* open_domain() */
	enum { PRIVATE, SHARED, CLOSED } file; /* its descriptor: -1, the shared file's, not open */
	bool no_such_qp; /* a number that no QP has, in place of the receive QP's */
	enum role peer; /* to which it connects or sends */
	enum ibv_wc_status status; /* of the completion of send_message() */
	/* Of a check: the section of the contract, its line in the report. */
	const char *section, *what;
	bool is_basic;		/* the checks that follow need this one */
};

extern const struct step steps[];
extern const uint32_t step_count;

/* Where an actor can be reached. */
struct address {
	union ibv_gid gid;
	uint32_t qp_num;	/* the creator's is that of the receive QP */
	uint32_t srq_num;
	uint16_t lid;
	uint16_t mtu;		/* enum ibv_mtu */
};

/* A step on its way to an actor, and its answer, sent as they are in memory. */
struct task {
	char version[16]; /* not ours: of another release, or a greeting that a shell prints */
	uint32_t step;		/* its index in steps[] */
	int32_t result;		/* of the step: 0, an errno, or one of the above */
	char text[512];		/* names the verb that failed, or the fault */
	/* The state that all actors share: */
	char device[64];	/* the creator's */
	struct address address[ACTORS];
	uint32_t seed;		/* the last message's */
	uint8_t heard[ACTORS];	/* which actors got the event */
};

/* ---- actor.c: in an actor's process ---- */

extern struct task task;		/* the step that is carried out */
extern const char *actor_device;	/* "": any that has XRC */
extern int actor_domain;		/* the shared domain's file */

/* Carries out the step in @task, and stores its result there. */
void actor_step(void);

void find_symbols(void), open_device(void), open_domain(void);
void create_srq(void), create_rcv_qp(void), create_xrc_qp(void), connect_xrc_qp(void);
void modify_rcv_qp(void), query_rcv_qp(void), register_qp(void), unregister_qp(void);
void send_message(void), receive_message(void), get_event(void), judge_events(void);
void destroy_srq(void), destroy_xrc_qp(void), close_domain(void), close_device(void), die(void);

/* ---- wire.c ---- */

struct actor {
	pid_t pid;
	int socket;
};

/* Forks an actor. @command: starts one on another host; NULL: on this one. 0 or errno. */
int actor_start(struct actor *actor, const char *command);

/* Has the actor carry out the step in @task, which has the answer then. */
void actor_ask(struct actor *actor);

/* Kills the actor, and waits up to five seconds until the kernel has released its objects. */
void actor_end(struct actor *actor);

/* Carries out the steps that come from @in until the other side hangs up, and ends the process. */
void actor_serve(int in, int out) __attribute__((noreturn));

#endif
