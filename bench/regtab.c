/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The cost of the registration table: time of a registration, of a process that joins, and of a
 * reader. Exit status 1 when a promised limit is missed.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <table/own.h>
#include <table/view.h>

#define QPS		16384u
#define PROCESSES	900u

static int missed;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* limit 0: none was promised. */
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

static void must(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	exit(2);
}

/* Returns the domain's entry. */
static int join(void)
{
	struct regtab_key key = { .device = "mlx4_0", .guid = 1, .st_dev = 1, .st_ino = 2 };
	int domain = regtab_open(&key);

	must(!regtab_show(), "join");
	return domain;
}

/*
 * As the library does it. The best of many short rounds: on a busy machine most contain another
 * program's time slice.
 */
static void bench_pair(void)
{
	int domain = join();
	double best = 1e18;

	for (int round = 0; round < 200; round++) {
		double begin = now_ns(), each;

		for (uint32_t i = 0; i < 2000; i++) {
			int place = regtab_enter(domain, 64 + i, false);

			regtab_show();
			regtab_drop(place);
			regtab_show();
		}
		each = (now_ns() - begin) / 2000;
		if (each < best)
			best = each;
	}
	report("register + unregister", best, "ns", 6000);
}

/* ---- joining ---- */

static double join_in_child(pid_t *pid)
{
	double took = -1;
	int result[2];

	must(!pipe(result), "pipe");
	*pid = fork();
	if (!*pid) {
		double begin = now_ns();

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		join();
		took = now_ns() - begin;
		must(write(result[1], &took, sizeof(took)) == sizeof(took), "write");
		for (;;)
			pause();
	}
	close(result[1]);
	must(read(result[0], &took, sizeof(took)) == sizeof(took), "read");
	close(result[0]);
	return took;
}

static int compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static int ignore(void *context, const struct regtab_view *view)
{
	(void)context;
	(void)view;
	return 0;
}

static void bench_joins(void)
{
	static pid_t pids[PROCESSES];
	static double took[PROCESSES];
	double begin;

	for (unsigned i = 0; i < PROCESSES; i++)
		took[i] = join_in_child(&pids[i]);
	report("first process joins", took[0] / 1e3, "us", 0);
	qsort(took + PROCESSES - 100, 100, sizeof(*took), compare);
	report("process 800 to 900 joins, median", took[PROCESSES - 50] / 1e3, "us", 1000);
	begin = now_ns();
	must(!regtab_list(ignore, NULL), "list");
	report("ps reads 900 processes", (now_ns() - begin) / 1e6, "ms", 0);
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
	double begin = now_ns();

	for (uint32_t i = 0; i < QPS; i++)
		regtab_enter(domain, 64 + i, false);
	must(!regtab_show(), "show");
	report("a process registers with 16384 QPs", (now_ns() - begin) / 1e3, "us", 0);
}

int main(void)
{
	printf("memory of a table without registrations: %zu KiB; with 16384: %zu KiB\n",
	       regtab_size(REGTAB_PLACES_MIN) >> 10, regtab_size(2 * QPS) >> 10);
	bench_pair();
	bench_joins();
	bench_memory();
	return missed;
}
