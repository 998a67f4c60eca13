/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that makes many short legacy calls, five functions deep: trace_calls COUNT. It
 * registers again and again with the receive QP that it has created, for which no kernel is asked.
 * Prints the nanoseconds of one call. `trace_calls COUNT yardstick` does what a trace cannot do
 * without: a walk of the stack, and two system calls that pass a record to another process.
 */

#include "old_program.h"

#include <execinfo.h>
#include <sys/socket.h>

static struct ibv_xrc_domain *domain;
static uint32_t number;

static void call(void)
{
	need(!ibv_reg_xrc_rcv_qp(domain, number), "registering");
}

static int reader;	/* the socket that leads to another process */

static void walk_and_send(void)
{
	char record[940] = { 0 };	/* as long as that of a call with ten frames */
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);
	void *returns[64];

	need(backtrace(returns, 64) > 0, "backtrace");
	need(!getpeername(reader, (struct sockaddr *)&name, &size), "getpeername");
	need(send(reader, record, sizeof(record), 0) == sizeof(record), "send");
}

static void start_reader(void)
{
	char record[4096];
	int sockets[2];
	pid_t pid;

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), "a pair of sockets");
	pid = fork();
	need(pid >= 0, "a process");
	if (!pid) {
		close(sockets[1]);
		while (read(sockets[0], record, sizeof(record)) > 0)
			;
		_exit(0);
	}
	close(sockets[0]);
	reader = sockets[1];
}

__attribute__((noinline)) static void descend(int depth, void (*work)(void))
{
	if (depth)
		descend(depth - 1, work);
	else
		work();
	__asm__ volatile("" ::: "memory");	/* no tail call: each is a frame */
}

static double time_of(void (*work)(void), long count)
{
	double start;

	/* The first calls load libraries and make the table file. */
	descend(4, work);
	start = nanoseconds(CLOCK_MONOTONIC);
	for (long i = 0; i < count; i++)
		descend(4, work);
	return (nanoseconds(CLOCK_MONOTONIC) - start) / (double)count;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	struct ibv_qp_init_attr attr = { 0 };

	domain = open_domain(open_device(), domain_file());
	attr.xrc_domain = domain;
	need(!ibv_create_xrc_rcv_qp(&attr, &number), "a receive QP");
	if (argc > 2)
		start_reader();
	printf("%.0f\n", time_of(argc > 2 ? walk_and_send : call, count));
	return 0;
}
