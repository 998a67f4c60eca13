/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Moves bytes between two processes without verbs, for softhca_speed.py to compare with.
 *
 *	yardstick tcp	 2 bytes there and back over loopback TCP
 *	yardstick memory 2 bytes there and back through shared memory; both processes poll
 *	yardstick stream messages of 64 KiB over loopback TCP, one way
 *	yardstick rate	 messages of 2 bytes over loopback TCP, one way
 *
 * Prints the median one-way time in microseconds, GB/s, or millions of messages a second.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "measure.h"

#define TRIPS	 5000
#define WARM_UP	 500
#define MESSAGE	 65536
#define MESSAGES 10000
#define SHORT	 200000

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tcp_pair(int end[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	need(!bind(listener, (struct sockaddr *)&address, size) && !listen(listener, 1) &&
		     !getsockname(listener, (struct sockaddr *)&address, &size),
	     "listen");
	end[0] = socket(AF_INET, SOCK_STREAM, 0);
	need(!connect(end[0], (struct sockaddr *)&address, size), "connect");
	end[1] = accept(listener, NULL, NULL);
	need(end[1] >= 0, "accept");
	for (int i = 0; i < 2; i++)
		need(!setsockopt(end[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "TCP_NODELAY");
}

static void run_on(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)processor, &set);
	need(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

/* Makes the second process. Returns 0 in the first one and 1 in the second, its side. */
static int fork_side(void)
{
	pid_t child = fork();

	need(child >= 0, "fork");
	if (!child)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child ? 0 : 1;
}

/* The same, and binds each process to one of the first two processors that they may use. */
static int fork_apart(void)
{
	cpu_set_t set;
	int side, processor = 0;

	need(!sched_getaffinity(0, sizeof(set), &set), "sched_getaffinity");
	side = fork_side();
	while (!CPU_ISSET((size_t)processor, &set))
		processor++;
	if (side && CPU_COUNT(&set) > 1) {
		do
			processor++;
		while (!CPU_ISSET((size_t)processor, &set));
	}
	run_on(processor);
	return side;
}

static int end_of[2];
static atomic_int *turn;

static void tcp_put(int side)
{
	need(write(end_of[side], "ab", 2) == 2, "write");
}

static void tcp_get(int side)
{
	char bytes[2];

	need(recv(end_of[side], bytes, 2, MSG_WAITALL) == 2, "recv");
}

static void memory_put(int side)
{
	atomic_store_explicit(turn, !side, memory_order_release);
}

static void memory_get(int side)
{
	while (atomic_load_explicit(turn, memory_order_acquire) != side)
		continue;
}

/* The median nanoseconds of one way. */
static double ping_pong(void (*put)(int side), void (*get)(int side))
{
	static double took[TRIPS];

	if (fork_apart()) {
		for (int i = 0; i < TRIPS; i++) {
			get(1);
			put(1);
		}
		_exit(EXIT_SUCCESS);
	}
	for (int i = 0; i < TRIPS; i++) {
		double begin = nanoseconds(CLOCK_MONOTONIC);

		put(0);
		get(0);
		took[i] = (nanoseconds(CLOCK_MONOTONIC) - begin) / 2;
	}
	wait(NULL);
	qsort(took + WARM_UP, TRIPS - WARM_UP, sizeof(took[0]), ascending);
	return took[WARM_UP + (TRIPS - WARM_UP) / 2];
}

/* Nanoseconds for @count messages over TCP. */
static double one_way(ssize_t size, int count)
{
	static char message[MESSAGE];
	double begin, took;

	tcp_pair(end_of);
	if (fork_apart()) {
		for (int i = 0; i < count; i++)
			need(recv(end_of[1], message, (size_t)size, MSG_WAITALL) == size, "recv");
		need(write(end_of[1], "a", 1) == 1, "write");
		_exit(EXIT_SUCCESS);
	}
	memset(message, 1, sizeof(message));
	begin = nanoseconds(CLOCK_MONOTONIC);
	for (int i = 0; i < count; i++)
		need(send(end_of[0], message, (size_t)size, 0) == size, "send");
	need(read(end_of[0], message, 1) == 1, "read");
	took = nanoseconds(CLOCK_MONOTONIC) - begin;
	wait(NULL);
	return took;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	double figure;

	alarm(60);
	if (!strcmp(what, "tcp")) {
		tcp_pair(end_of);
		figure = ping_pong(tcp_put, tcp_get) / 1e3;
	} else if (!strcmp(what, "memory")) {
		turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
		need(turn != MAP_FAILED, "mmap");
		atomic_store(turn, 0);
		figure = ping_pong(memory_put, memory_get) / 1e3;
	} else if (!strcmp(what, "stream")) {
		figure = MESSAGE / one_way(MESSAGE, MESSAGES) * MESSAGES;
	} else if (!strcmp(what, "rate")) {
		figure = SHORT / one_way(2, SHORT) * 1e3;
	} else {
		fprintf(stderr, "usage: yardstick tcp|memory|stream|rate\n");
		return 2;
	}
	printf("%.3f\n", figure);
	return EXIT_SUCCESS;
}
