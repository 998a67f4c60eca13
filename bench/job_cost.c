/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The cost of one node in a job of 4,096 nodes with 128 processes each: QPs, registrations, table
 * memory, calls and the library's own time at connect. One process of 128 fills its table, and the
 * program measures the time. The adapter's own time is not counted.
 */

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <table/own.h>

#define NODES 4096
#define PROCESSES 128

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

/* Each QP is made by the first process it reaches; the others register with it. */
static uint64_t fill(int domain, const struct pattern *pattern)
{
	uint64_t registrations = 0;

	for (uint32_t i = 0; i < pattern->receive_qps; i++) {
		for (unsigned other = 0; other < pattern->registrants; other++) {
			if ((i + other) % PROCESSES)
				continue;
			regtab_enter(domain, 0x800000 + 64 + i, !other);
			regtab_show();
			registrations++;
		}
	}
	return registrations;
}

static void measure(const struct pattern *pattern)
{
	struct regtab_key key = { .device = "mlx4_0", .st_dev = 1, .st_ino = 1 };
	uint64_t registrations = (uint64_t)pattern->receive_qps * pattern->registrants, calls;
	uint32_t places = REGTAB_PLACES_MIN;
	double seconds = now();
	uint64_t own;

	regtab_forget();
	own = fill(regtab_open(&key), pattern);
	seconds = now() - seconds;
	while (own >= places - places / 8)
		places *= 2;
	calls = (uint64_t)pattern->send_qps * CALLS_PER_SEND +
		(uint64_t)pattern->receive_qps * CALLS_PER_RECEIVE + registrations -
		pattern->receive_qps;
	printf("%-18s%10" PRIu32 "%10" PRIu32 "%12" PRIu64 "%12" PRIu64 "%11.2f%13" PRIu64
	       "%14.3f\n",
	       pattern->name, pattern->send_qps, pattern->receive_qps, registrations,
	       pattern->rc_qps, (double)regtab_size(places) * PROCESSES / (1 << 20),
	       calls / PROCESSES, seconds);
}

int main(void)
{
	printf("%d nodes x %d processes, per node\n", NODES, PROCESSES);
	printf("%-18s%10s%10s%12s%12s%11s%13s%14s\n", "traffic", "send QPs", "recv QPs", "registr.",
	       "RC QPs", "table MiB", "calls/proc.", "table s/proc.");
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		measure(&patterns[i]);
	return 0;
}
