/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The cost of the registration table: time of a process that joins, and of a reader. Exit status 1
 * when a promised limit is missed. reg_cost.c measures a registration.
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <table/own.h>
#include <table/view.h>

#include "measure.h"

#define QPS		16384u
#define PROCESSES	900u

static int missed;

/* @limit 0: no limit is promised. */
static void report(const char *what, double value, const char *unit, double limit)
{
	printf("%-62s %10.1f %-4s", what, value, unit);
	if (limit > 0)
		printf("  (limit %.0f%s)", limit, value > limit ? ", MISSED" : "");
	printf("\n");
	fflush(stdout);
	if (limit > 0 && value > limit)
		missed = 1;
}

/* Returns the domain's entry. */
static int join(void)
{
	struct regtab_key key = { .device = "mlx4_0", .guid = 1, .st_dev = 1, .st_ino = 2 };
	int domain = regtab_open(&key);

	need(!regtab_show(), "join");
	return domain;
}

/* ---- joining ---- */

static double join_in_child(pid_t *pid)
{
	double took = -1;
	int result[2];

	need(!pipe(result), "pipe");
	*pid = fork();
	if (!*pid) {
		double begin = nanoseconds(CLOCK_MONOTONIC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		join();
		took = nanoseconds(CLOCK_MONOTONIC) - begin;
		need(write(result[1], &took, sizeof(took)) == sizeof(took), "write");
		for (;;)
			pause();
	}
	close(result[1]);
	need(read(result[0], &took, sizeof(took)) == sizeof(took), "read");
	close(result[0]);
	return took;
}

static int compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static void bench_joins(void)
{
	static pid_t pids[PROCESSES];
	static double took[PROCESSES];
	struct regtab_view all;
	double begin;

	for (unsigned i = 0; i < PROCESSES; i++)
		took[i] = join_in_child(&pids[i]);
	report("first process joins", took[0] / 1e3, "us", 0);
	qsort(took + PROCESSES - 100, 100, sizeof(*took), compare);
	report("process 800 to 900 joins, median", took[PROCESSES - 50] / 1e3, "us", 1000);
	begin = nanoseconds(CLOCK_MONOTONIC);
	need(!regtab_read(&all), "read");
	report("ps reads 900 processes", (nanoseconds(CLOCK_MONOTONIC) - begin) / 1e6, "ms", 0);
	regtab_free(&all);
	for (unsigned i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* ---- memory ---- */

/* The content of the table of a process that is registered with all QPs. */
static void bench_memory(void)
{
	int domain = join();
	double begin = nanoseconds(CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < QPS; i++)
		regtab_enter(domain, 64 + i, false);
	need(!regtab_show(), "show");
	report("a process registers with 16384 QPs", (nanoseconds(CLOCK_MONOTONIC) - begin) / 1e3, "us", 0);
}

int main(void)
{
	printf("memory of a table without registrations: %zu KiB; with 16384: %zu KiB\n",
	       regtab_size(REGTAB_PLACES_MIN) >> 10, regtab_size(2 * QPS) >> 10);
	bench_joins();
	bench_memory();
	return missed;
}
