/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The cost of the registration table: time of a process that joins, and of a reader. Exit status 1
 * if joining 800 others takes more than LIMIT times as long as joining few. reg_cost.c measures a
 * registration.
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <table/own.h>
#include <table/view.h>

#include "measure.h"

#define QPS		16384u
#define PROCESSES	900u
#define SOME		100u	/* of which the median counts */
#define LIMIT		3.0

static void report(const char *what, double value, const char *unit)
{
	printf("%-62s %10.1f %s\n", what, value, unit);
	fflush(stdout);
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

static double median(double took[SOME])
{
	qsort(took, SOME, sizeof(*took), compare);
	return took[SOME / 2];
}

/* How many times as long the last processes take as the first. */
static double bench_joins(void)
{
	static pid_t pids[PROCESSES];
	static double took[PROCESSES];
	struct regtab_view all;
	double begin, first, last;

	for (unsigned i = 0; i < PROCESSES; i++)
		took[i] = join_in_child(&pids[i]);
	first = median(took);
	last = median(took + PROCESSES - SOME);
	report("process 1 to 100 joins, median", first / 1e3, "us");
	report("process 801 to 900 joins, median", last / 1e3, "us");
	begin = nanoseconds(CLOCK_MONOTONIC);
	need(!regtab_read(&all), "read");
	report("ps reads 900 processes", (nanoseconds(CLOCK_MONOTONIC) - begin) / 1e6, "ms");
	regtab_free(&all);
	for (unsigned i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return last / first;
}

/* ---- registrations ---- */

/* The content of the table of a process that is registered with all QPs. */
static void bench_registrations(void)
{
	int domain = join();
	double begin = nanoseconds(CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < QPS; i++)
		regtab_enter(domain, 64 + i, false);
	need(!regtab_show(), "show");
	report("a process registers with 16384 QPs", (nanoseconds(CLOCK_MONOTONIC) - begin) / 1e3, "us");
}

int main(void)
{
	double times;

	printf("memory of a table without registrations: %zu KiB; with 16384: %zu KiB\n",
	       regtab_size(REGTAB_PLACES_MIN) >> 10, regtab_size(2 * QPS) >> 10);
	times = bench_joins();
	bench_registrations();
	printf("joining 800 processes takes %.2f times as long as joining few (limit %.0f)\n", times, LIMIT);
	return times > LIMIT;
}
