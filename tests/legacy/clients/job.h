/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A parallel job on two hosts, as mpirun and PMI made it: its processes, and what they tell each other beside the
 * fabric. No verbs in here: the program that finds libibverbs by dlopen must not be linked with it.
 *
 * Whatever waits here gives up at the job's deadline (LEGACY_SECONDS, 30 s unless set) and ends the process; the
 * launcher then ends the others, so that nobody waits for the dead.
 */
#ifndef TESTS_LEGACY_CLIENTS_JOB_H
#define TESTS_LEGACY_CLIENTS_JOB_H

#include <stddef.h>
#include <stdint.h>

#define JOB_HOSTS 2
#define JOB_RANKS_MAX 8
#define JOB_HOST_MEMORY 4096

enum job_net {
	JOB_CM,		/* connection messages: the UD QP or the TCP socket of the real program */
	JOB_PMI,	/* the start-up network: barriers and gathers */
	JOB_NETS
};

enum job_scope {
	JOB_WORLD,
	JOB_HOST
};

struct job {
	const char *name;
	char dir[64];			/* a folder of this job alone */
	int rank, size;
	int host;			/* 0, 1: the number of its device too */
	int local_rank, local_size;
	void *host_memory;		/* JOB_HOST_MEMORY bytes for all processes of the host, zero at first */
	int link[JOB_NETS][JOB_RANKS_MAX];
	double deadline;
};

extern struct job job;	/* of this process */

/* What follows the first word of the command line; ends the program with usage if it is none of @flags (NULL ends). */
void job_options(int argc, char **argv, const char *const *flags);
int job_option(int argc, char **argv, const char *flag);

/* Runs @rank_main in two times @ranks_per_host processes and prints the summary: 0 if all returned 0. */
int job_run(const char *name, int ranks_per_host, int (*rank_main)(void));

/* Ends this process, and so the job, with a line that says why. */
void job_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* A verb that gives a pointer, one that gives 0: ends this process if it did not. */
void *must(void *object, const char *what);
void must_be_0(int result, const char *what);

void job_send(enum job_net net, int to, const void *message, size_t size);
/* From @from, or from anybody if -1: who it was, or -1 if there is nothing within @milliseconds. */
int job_receive(enum job_net net, int from, void *message, size_t size, int milliseconds);
/* @all: one element for each process of the scope, by rank. A barrier too. */
void job_gather(enum job_scope scope, const void *mine, size_t size, void *all);
void job_barrier(enum job_scope scope);

/* A nap in a poll loop: the deadline is looked at, the processor given away. */
void job_idle(void);
void job_wait_readable(int fd);

/* The first rank of the other host, and the one to talk to in that turn: every rank begins with another one. */
int job_first_peer(void);
int job_peer(int turn);
/* Each rank of the other host has sent that many. */
int job_heard_all(const unsigned received_from[JOB_RANKS_MAX], unsigned messages);

/* A message of at least 16 bytes that says from whom, to whom and which one it is, the rest made from that. */
void job_fill(void *message, size_t size, int to, uint32_t sequence);
/* Ends the process unless the message is whole and for this one: who it is from, which one in *sequence. */
int job_verify(const void *message, size_t size, uint32_t *sequence);

#endif
