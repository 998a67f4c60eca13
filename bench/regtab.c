/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the registration table costs: time of a registration, among many processes too, lookups as the table grows,
 * memory, and reaping the dead. Exit status 1 when a promised limit is missed.
 */

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tests/unit/compat/regtab/inside.h>

#define QPS		16384u
#define REGISTRANTS	512u
#define PROCESSES	64u
#define SAMPLES		4000u	/* per process */

static char dir[64];
static int missed;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "regtab bench: %s: %s\n", what, strerror(-error));
	exit(2);
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

static struct regtab_key the_key(void)
{
	return (struct regtab_key){ .device = "mlx4_0", .guid = 1, .st_dev = 1, .st_ino = 2 };
}

static struct regtab *table(void)
{
	struct regtab_key key = the_key();
	struct regtab_error why = { "" };
	struct regtab *tab;

	if (regtab_open(&key, dir, &tab, &why)) {
		fprintf(stderr, "%s\n", why.text);
		exit(2);
	}
	return tab;
}

static struct regtab_member *join(struct regtab *tab)
{
	struct regtab_member *member;

	must(regtab_join(tab, "bench", &member), "join");
	return member;
}

/* A process that does its work, and then sleeps until it is killed. */
static pid_t neighbour(void (*what)(struct regtab *tab))
{
	int ready[2];
	char byte;
	pid_t pid;

	must(pipe(ready), "pipe");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		what(table());
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		must(-EIO, "neighbour");
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- a pair ---- */

/* The best of many short rounds: on a busy machine most of them contain somebody else's time slice. */
static double pair_ns(struct regtab_member *member, bool ask_last)
{
	double best = 1e18;

	for (int round = 0; round < 100; round++) {
		double begin = now_ns(), each;
		bool last;

		for (int i = 0; i < 2000; i++) {
			must(regtab_register(member, 7), "register");
			must(regtab_unregister(member, 7, ask_last ? &last : NULL), "unregister");
		}
		each = (now_ns() - begin) / 2000;
		if (each < best)
			best = each;
	}
	return best;
}

static void add_by_kernel(struct regtab *tab)
{
	must(regtab_add(join(tab), 7, REGTAB_BY_KERNEL), "add");
}

static void add_by_owner(struct regtab *tab)
{
	must(regtab_add(join(tab), 7, REGTAB_BY_OWNER), "add");
}

static void bench_local(void)
{
	struct regtab *tab = table();
	struct regtab_member *creator = join(tab), *member = join(tab);

	must(regtab_add(creator, 7, REGTAB_BY_KERNEL), "add");
	report("reg+unreg, creator in the same process", pair_ns(member, true), "ns", 500);
	regtab_leave(member);
	regtab_leave(creator);
	regtab_close(tab);
}

static void bench_remote(void (*what)(struct regtab *tab), const char *name, bool ask_last, double limit)
{
	pid_t creator = neighbour(what);
	struct regtab *tab = table();
	struct regtab_member *member = join(tab);

	report(name, pair_ns(member, ask_last), "ns", limit);
	end(creator);
	regtab_leave(member);
	regtab_close(tab);
}

/* ---- many processes ---- */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void contend(uint32_t *samples, unsigned n, int go)
{
	struct regtab_member *member = join(table());
	char byte;

	if (read(go, &byte, 1) < 0)	/* end of file: all begin */
		_exit(1);
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint32_t qp_num = i % 2 ? 7 : 8 + n % 8;	/* one that all fight for, and one that some do */
		double begin = now_ns();
		bool last;

		must(regtab_register(member, qp_num), "register");
		must(regtab_unregister(member, qp_num, &last), "unregister");
		samples[i] = (uint32_t)(now_ns() - begin);
	}
	_exit(0);
}

static void bench_many(void)
{
	size_t count = (size_t)PROCESSES * SAMPLES;
	uint32_t *samples = mmap(NULL, count * sizeof(*samples), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct regtab *tab = table();
	struct regtab_member *creator = join(tab);
	int go[2], status, bad = 0;

	if (samples == MAP_FAILED)
		must(-ENOMEM, "samples");
	must(pipe(go), "pipe");
	for (uint32_t i = 7; i < 16; i++)
		must(regtab_add(creator, i, REGTAB_BY_KERNEL), "add");
	for (unsigned i = 0; i < PROCESSES; i++) {
		if (fork())
			continue;
		close(go[1]);
		contend(samples + i * SAMPLES, i, go[0]);
	}
	close(go[0]);
	close(go[1]);
	while (wait(&status) > 0)
		bad |= status;
	must(bad ? -EIO : 0, "contending processes");
	qsort(samples, count, sizeof(*samples), compare);
	report("reg+unreg, 64 processes, median", samples[count / 2] / 1e3, "us", 0);
	report("reg+unreg, 64 processes, p99", samples[count / 100 * 99] / 1e3, "us", 1000);
	report("reg+unreg, 64 processes, longest (includes being scheduled away)", samples[count - 1] / 1e3, "us", 0);
	munmap(samples, count * sizeof(*samples));
	regtab_leave(creator);
	regtab_close(tab);
}

/* ---- lookups ---- */

static double lookup_ns(struct regtab_member *member, unsigned qps)
{
	double best = 1e18;

	for (int round = 0; round < 50; round++) {
		uint32_t number = 1;
		double begin = now_ns(), each;

		for (int i = 0; i < 20000; i++) {
			number = number * 1664525u + 1013904223u;
			if (!regtab_is_registered(member, 0x800000 + (number >> 8) % qps * 4))
				must(-ENOENT, "lookup");
		}
		each = (now_ns() - begin) / 20000;
		if (each < best)
			best = each;
	}
	return best;
}

static void bench_lookups(void)
{
	struct regtab *tab = table();
	struct regtab_member *member = join(tab);
	unsigned added = 0;
	double first = 0, each = 0;

	for (unsigned qps = 16; qps <= QPS; qps *= 4) {
		char name[64];

		for (; added < qps; added++)
			must(regtab_add(member, 0x800000 + added * 4, REGTAB_BY_KERNEL), "add");
		each = lookup_ns(member, qps);
		snprintf(name, sizeof(name), "lookup among %u QPs", qps);
		report(name, each, "ns", 100);
		if (first == 0)
			first = each;
	}
	report("lookup among 16384 QPs against among 16", each / first, "x", 0);
	regtab_leave(member);
	regtab_close(tab);
}

/* ---- memory, and the dead ---- */

static void file_sizes(double *used, double *apparent)
{
	struct dirent *entry;
	struct stat st;
	DIR *handle = opendir(dir);

	*used = *apparent = 0;
	while (handle && (entry = readdir(handle)))
		if (entry->d_name[0] != '.' && !fstatat(dirfd(handle), entry->d_name, &st, 0)) {
			*used += (double)st.st_blocks * 512;
			*apparent += (double)st.st_size;
		}
	closedir(handle);
}

static void register_all(struct regtab *tab)
{
	struct regtab_member *member = join(tab);

	for (uint32_t i = 1; i <= QPS; i++)
		must(regtab_register(member, i), "register");
}

static void bench_reap(struct regtab *tab, const char *name)
{
	double begin;

	end(neighbour(register_all));
	begin = now_ns();
	if (regtab_reap(tab) != 1)
		must(-EIO, "reap");
	report(name, (now_ns() - begin) / 1e6, "ms", 5);
}

static void bench_memory(void)
{
	static struct regtab_member *members[REGISTRANTS];
	struct regtab *tab = table();
	double used, apparent;

	members[0] = join(tab);
	file_sizes(&used, &apparent);
	report("memory of a table with one registrant", used / 1024, "KiB", 0);
	for (uint32_t i = 1; i <= QPS; i++)
		must(regtab_add(members[0], i, REGTAB_BY_KERNEL), "add");
	file_sizes(&used, &apparent);
	report("memory of up to 64 registrants x 16384 QPs", used / 1048576, "MiB", 0);
	bench_reap(tab, "reaping one registered with 16384 QPs");
	for (unsigned m = 1; m < REGISTRANTS; m++) {
		members[m] = join(tab);
		for (uint32_t i = 1; i <= QPS; i++)
			must(regtab_register(members[m], i), "register");
	}
	file_sizes(&used, &apparent);
	report("memory of 512 registrants x 16384 QPs, all registered", used / 1048576, "MiB", 8);
	report("the same as the file's size, with holes that use nothing", apparent / 1048576, "MiB", 8);
	bench_reap(tab, "reaping one registered with 16384 QPs, 512 others too");
	for (unsigned m = 0; m < REGISTRANTS; m++)
		regtab_leave(members[m]);
	regtab_close(tab);
}

int main(void)
{
	snprintf(dir, sizeof(dir), "%s/regtab-bench-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		must(-errno, dir);
	bench_local();
	bench_remote(add_by_kernel, "reg+unreg, kernel carries, creator elsewhere", false, 500);
	bench_remote(add_by_kernel, "the same, asking whether it was the last", true, 1000);
	bench_remote(add_by_owner, "reg+unreg, owner elsewhere carries", false, 500);
	bench_remote(add_by_owner, "the same, asking whether it was the last", true, 500);
	bench_many();
	bench_lookups();
	bench_memory();
	rmdir(dir);
	return missed;
}
