/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A parallel job on two hosts, as mpirun and PMI made it: its processes, and how they communicate
 * without the fabric. There are no verbs in here, since one of the programs must not be linked with
 * libibverbs.
 *
 * A function that waits ends the process at the job's deadline (LEGACY_SECONDS, 30 s unless set).
 * When a process fails, the launcher ends the others.
 */
#ifndef TESTS_LEGACY_CLIENTS_JOB_H
#define TESTS_LEGACY_CLIENTS_JOB_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_HOSTS 2
#define JOB_RANKS_MAX 8
#define JOB_HOST_MEMORY 4096

enum job_net {
	JOB_CM,		/* connection messages, for which the real programs used a UD QP or TCP */
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
	/* JOB_HOST_MEMORY bytes for all processes of the host, zero at first */
	void *host_memory;
	int link[JOB_NETS][JOB_RANKS_MAX];
	double deadline;
};

extern struct job job;	/* of this process */

/*
 * Ends the program with a usage message if an argument is none of @flags (a list that NULL ends).
 */
void job_options(int argc, char **argv, const char *const *flags);
int job_option(int argc, char **argv, const char *flag);

/*
 * Runs @rank_main in two times @ranks_per_host processes and prints the summary: 0 if all returned
 * 0.
 */
int job_run(const char *name, int ranks_per_host, int (*rank_main)(void));

/* Ends this process, and so the job, with a line that says why. */
void job_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* For a verb that returns a pointer, and for one that returns 0: ends this process if it failed. */
void *must(void *object, const char *what);
void must_be_0(int result, const char *what);

void job_send(enum job_net net, int to, const void *message, size_t size);
/*
 * Receives a message from @from (-1: from any rank). Returns the sender, or -1 if no message comes
 * within @milliseconds (-1: no limit).
 */
int job_receive(enum job_net net, int from, void *message, size_t size, int milliseconds);
/* Gathers @mine of each process of the scope in @all, by rank. This is a barrier, too. */
void job_gather(enum job_scope scope, const void *mine, size_t size, void *all);
void job_barrier(enum job_scope scope);
/*
 * A barrier of the world that calls @progress while it waits: others may still need an answer to a
 * connection message.
 */
void job_barrier_with(void (*progress)(void));

/* For poll loops: checks the deadline, and sleeps for a moment. */
void job_idle(void);
void job_wait_readable(int fd);
void job_cancel_thread(pthread_t thread);

/*
 * job_first_peer: the first rank of the other host. job_peer: the rank there to send to in @turn.
 * Each rank starts with a different peer.
 */
int job_first_peer(void);
int job_peer(int turn);

/*
 * Fills a message, of 16 bytes or more: with sender, receiver and sequence number, and with bytes
 * that follow from these.
 */
void job_fill(void *message, size_t size, int to, uint32_t sequence);
/*
 * Returns the sender, and the number in *sequence. Ends the process if the message is damaged or
 * not for this process.
 */
int job_verify(const void *message, size_t size, uint32_t *sequence);

#endif
