/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The cost of one node in a job of 4,096 nodes with 128 processes each: QPs, registrations, table
 * memory, calls and the library's own time at connect. Four members of 128 fill their files of the
 * table, and the program measures the time. The adapter's own time is not counted.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <compat/regtab.h>
#include <tools/tables/view.h>

#define NODES 4096
#define PROCESSES 128
#define MEMBERS 4	/* of them are measured */

/*
 * Legacy calls a process makes per send QP (create, INIT, RTR, RTS), and per receive QP it creates
 * (create, INIT, RTR).
 */
#define CALLS_PER_SEND 4
#define CALLS_PER_RECEIVE 3

struct pattern {
	const char *name;
	/* of the node: one per process and remote node it talks to */
	uint32_t send_qps;
	uint32_t receive_qps;		/* of the node: one per remote process that talks to it */
	unsigned registrants;		/* local processes that each of those talks to */
	uint64_t rc_qps;		/* what plain RC needs: one per pair of processes */
};

static const struct pattern patterns[] = {
	{ "all to all", (NODES - 1) * PROCESSES, (NODES - 1) * PROCESSES, PROCESSES,
	  (uint64_t)(NODES - 1) * PROCESSES * PROCESSES },
	/*
	 * A 3-D grid, 6 neighbours each; a node is a block of 8 x 4 x 4, so 160 of its links lead
	 * to other nodes.
	 */
	{ "nearest neighbour", 160, 160, 1, 160 },
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "job_cost: %s: %s\n", what, strerror(-err));
	exit(1);
}

static int note_bytes(void *bytes, const struct regtab_view *view)
{
	struct stat st;

	for (unsigned i = 0; i < view->member_count; i++) {
		must(stat(view->members[i].path, &st), "stat");
		*(uint64_t *)bytes += (uint64_t)st.st_blocks * 512;
	}
	return 0;
}

/* Each QP is made by the first process it reaches; the others register with it. */
static void fill(struct regtab_entry **members, const struct pattern *pattern)
{
	for (uint32_t i = 0; i < pattern->receive_qps; i++) {
		for (unsigned other = 0; other < pattern->registrants; other++) {
			unsigned process = (i + other) % PROCESSES;

			if (process < MEMBERS)
				regtab_enter(members[process], 0x800000 + 64 + i, !other);
		}
	}
}

static void measure(const char *dir, const struct pattern *pattern)
{
	struct regtab_key key = { .device = "mlx4_0", .st_dev = 1, .st_ino = 1 };
	uint64_t registrations = (uint64_t)pattern->receive_qps * pattern->registrants, calls,
		 bytes = 0;
	struct regtab_entry *members[MEMBERS];
	struct regtab_news news;
	double seconds;

	for (unsigned i = 0; i < MEMBERS; i++) {
		members[i] = regtab_new(dir, &key, "bench");
		regtab_refresh(members[i], &news);
		must(news.err, "join");
	}
	seconds = now();
	fill(members, pattern);
	seconds = now() - seconds;
	must(regtab_list(dir, note_bytes, &bytes), "list");
	calls = (uint64_t)pattern->send_qps * CALLS_PER_SEND +
		(uint64_t)pattern->receive_qps * CALLS_PER_RECEIVE + registrations -
		pattern->receive_qps;
	printf("%-18s%10" PRIu32 "%10" PRIu32 "%12" PRIu64 "%12" PRIu64 "%11.2f%13" PRIu64
	       "%14.3f\n",
	       pattern->name, pattern->send_qps, pattern->receive_qps, registrations,
	       pattern->rc_qps, (double)bytes * PROCESSES / MEMBERS / (1 << 20), calls / PROCESSES,
	       seconds / MEMBERS);
	for (unsigned i = 0; i < MEMBERS; i++)
		regtab_free(members[i]);
}

int main(void)
{
	char dir[] = "/dev/shm/xrc-compat-bench-XXXXXX";

	if (!mkdtemp(dir)) {
		fprintf(stderr, "job_cost: no directory in /dev/shm\n");
		return 77;
	}
	printf("%d nodes x %d processes, per node\n", NODES, PROCESSES);
	printf("%-18s%10s%10s%12s%12s%11s%13s%14s\n", "traffic", "send QPs", "recv QPs", "registr.",
	       "RC QPs", "table MiB", "calls/proc.", "table s/proc.");
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		measure(dir, &patterns[i]);
	rmdir(dir);
	return 0;
}
