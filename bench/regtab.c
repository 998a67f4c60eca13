/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The cost of the registration table: its memory, the time of a reader of many processes, and that
 * of a process with many registrations. It has no limits. reg_cost.c measures a registration.
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <table/own.h>
#include <table/view.h>

#include "measure.h"

#define QPS		16384u
#define PROCESSES 900u

/* Returns the domain's entry. */
static int join(void)
{
	struct regtab_key key = { .device = "mlx4_0", .guid = 1, .st_dev = 1, .st_ino = 2 };
	int domain = regtab_open(&key);

	need(!regtab_show(), "join");
	return domain;
}

/* Returns when the child has a table. */
static pid_t join_in_child(void)
{
	int joined[2];
	char byte = 0;
	pid_t pid;

	need(!pipe(joined), "pipe");
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		join();
		need(write(joined[1], &byte, 1) == 1, "write");
		for (;;)
			pause();
	}
	close(joined[1]);
	need(read(joined[0], &byte, 1) == 1, "read");
	close(joined[0]);
	return pid;
}

static void bench_reader(void)
{
	static pid_t pids[PROCESSES];
	struct regtab_view all;
	double begin;

	for (unsigned i = 0; i < PROCESSES; i++)
		pids[i] = join_in_child();
	begin = nanoseconds(CLOCK_MONOTONIC);
	need(!regtab_read(&all), "read");
	printf("ps reads %u processes: %.1f ms\n", PROCESSES,
	       (nanoseconds(CLOCK_MONOTONIC) - begin) / 1e6);
	regtab_free(&all);
	for (unsigned i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* The content of the table of a process that is registered with all QPs. */
static void bench_registrations(void)
{
	int domain = join();
	double begin = nanoseconds(CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < QPS; i++)
		regtab_enter(domain, 64 + i, false);
	need(!regtab_show(), "show");
	printf("a process registers with %u QPs: %.1f us\n", QPS,
	       (nanoseconds(CLOCK_MONOTONIC) - begin) / 1e3);
}

int main(void)
{
	printf("memory of a table without registrations: %zu KiB; with %u: %zu KiB\n",
	       regtab_size(REGTAB_PLACES_MIN) >> 10, QPS, regtab_size(2 * QPS) >> 10);
	bench_reader();
	bench_registrations();
	return EXIT_SUCCESS;
}
