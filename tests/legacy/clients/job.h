/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A parallel job on two hosts, as mpirun and PMI made it: its processes, and how they communicate
 * without the fabric. There are no verbs in here, since one of the programs must not be linked with
 * libibverbs.
 *
 * A process that runs for LEGACY_SECONDS (30 unless set) is ended by SIGALRM. When a process fails,
 * the launcher ends the others. A job runs in TMPDIR, alone there.
 */
#ifndef TESTS_LEGACY_CLIENTS_JOB_H
#define TESTS_LEGACY_CLIENTS_JOB_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_HOSTS 2
#define JOB_RANKS_MAX 8
#define JOB_MESSAGE_MAX 128	/* bytes */

extern struct job {
	int rank, size;
	int host;			/* 0, 1: the number of its device too */
	int local_rank, local_size;
	char *host_memory;		/* JOB_MESSAGE_MAX shared bytes, zero at first */
} job;	/* of this process */

int job_option(int argc, char **argv, const char *flag);
/* Runs @rank_main in 2 * @ranks_per_host processes; prints the summary. 0: each returned 0. */
int job_run(int ranks_per_host, int (*rank_main)(void));

/* Ends this process, and so the job, with a line that says why. */
void job_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* For a verb that returns a pointer, and for one that returns 0: ends this process if it failed. */
void *must(void *object, const char *what);
void must_be_0(int result, const char *what);

/* Connection messages, for which the real programs used a UD QP or TCP. */
void job_send(int to, const void *message, size_t size);
/* Returns the sender, or -1 if there is no message and @wait is 0. */
int job_receive(void *message, size_t size, int wait);

/* Calls @progress while it waits: others may still need an answer to a connection message. */
void job_barrier_with(void (*progress)(void));
void job_barrier(void);
void job_host_barrier(void);
/* Gathers @mine of each process in @all, by rank. This is a barrier, too. */
void job_gather(const void *mine, size_t size, void *all);

/* Sleeps for a moment. */
void job_idle(void);
void job_cancel_thread(pthread_t thread);

/*
 * job_first_peer: the first rank of the other host. job_peer: the rank there to send to in @turn.
 * Each rank starts with a different peer.
 */
int job_first_peer(void);
int job_peer(int turn);

/* Fills a message, of 16 bytes or more, with what job_verify() checks. */
void job_fill(void *message, size_t size, int to, uint32_t sequence);
/*
 * Returns the sender, and the number in *sequence. Ends the process if the message is damaged or
 * not for this process.
 */
int job_verify(const void *message, size_t size, uint32_t *sequence);

#endif
