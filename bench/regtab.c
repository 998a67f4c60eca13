/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The cost of the registration table: time of a registration, time to join as the directory fills,
 * memory. Exit status 1 when a promised limit is missed.
 */

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <compat/regtab.h>
#include <tools/tables/view.h>

#define QPS		16384u
#define REGISTRANTS	512u
#define PROCESSES	900u

static char dir[64];
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

static struct regtab_entry *join(void)
{
	struct regtab_key key = { .device = "mlx4_0", .guid = 1, .st_dev = 1, .st_ino = 2 };
	struct regtab_entry *entry = regtab_new(dir, &key, "bench");
	struct regtab_news news;

	regtab_refresh(entry, &news);
	must(!news.err, "join");
	return entry;
}

/*
 * As the library does it. The best of many short rounds: on a busy machine most contain another
 * program's time slice.
 */
static void bench_pair(void)
{
	struct regtab_entry *entry = join();
	struct regtab_news news;
	double best = 1e18;

	for (int round = 0; round < 200; round++) {
		double begin = now_ns(), each;

		for (uint32_t i = 0; i < 2000; i++) {
			regtab_refresh(entry, &news);
			regtab_enter(entry, 64 + i, false);
			regtab_refresh(entry, &news);
			regtab_drop(entry, 64 + i);
		}
		each = (now_ns() - begin) / 2000;
		if (each < best)
			best = each;
	}
	report("register + unregister", best, "ns", 6000);
	regtab_free(entry);
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
	must(!regtab_list(dir, ignore, NULL), "list");
	report("ps reads 900 processes", (now_ns() - begin) / 1e6, "ms", 0);
	for (unsigned i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* ---- memory ---- */

static double used(void)
{
	struct dirent *entry;
	DIR *stream = opendir(dir);
	double bytes = 0;
	struct stat st;

	while (stream && (entry = readdir(stream)))
		if (entry->d_name[0] != '.' && !fstatat(dirfd(stream), entry->d_name, &st, 0))
			bytes += (double)st.st_blocks * 512;
	closedir(stream);
	return bytes;
}

static void remove_all(void)
{
	struct dirent *entry;
	DIR *stream = opendir(dir);

	while (stream && (entry = readdir(stream)))
		unlinkat(dirfd(stream), entry->d_name, 0);
	closedir(stream);
}

static void bench_memory(void)
{
	static struct regtab_entry *entries[REGISTRANTS];
	struct rlimit limits = { REGISTRANTS + 100, REGISTRANTS + 100 };

	must(!setrlimit(RLIMIT_NOFILE, &limits), "setrlimit");
	entries[0] = join();
	report("memory of a process without receive QPs", used() / 1024, "KiB", 4);
	for (unsigned m = 0; m < REGISTRANTS; m++) {
		if (m)
			entries[m] = join();
		for (uint32_t i = 0; i < QPS; i++)
			regtab_enter(entries[m], 64 + i, i % REGISTRANTS == m);
	}
	report("memory of 512 registrants x 16384 QPs, all registered", used() / 1048576, "MiB", 8);
	for (unsigned m = 0; m < REGISTRANTS; m++)
		regtab_free(entries[m]);
}

int main(void)
{
	snprintf(dir, sizeof(dir), "%s/regtab-bench-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	must(mkdtemp(dir), dir);
	bench_joins();
	remove_all();
	bench_pair();
	bench_memory();
	rmdir(dir);
	return missed;
}
