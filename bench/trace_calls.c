/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that makes many short legacy calls, five functions deep: trace_calls COUNT. It
 * registers again and again with the receive QP that it has created, for which no kernel is asked.
 * Prints the nanoseconds of one call.
 */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "trace_calls: %s\n", what);
	exit(2);
}

static struct ibv_xrc_domain *open_domain(void)
{
	char path[] = "/tmp/trace-calls-XXXXXX";
	int fd = mkstemp(path);
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_xrc_domain *domain;

	need(fd >= 0 && !unlink(path), "a file for the domain");
	domain = context ? ibv_open_xrc_domain(context, fd, O_CREAT) : NULL;
	need(domain != NULL, "no device, or no XRC domain on it");
	return domain;
}

__attribute__((noinline)) static void call(int depth, struct ibv_xrc_domain *domain,
					   uint32_t number)
{
	if (depth)
		call(depth - 1, domain, number);
	else
		need(!ibv_reg_xrc_rcv_qp(domain, number), "registering");
	__asm__ volatile("" ::: "memory");	/* no tail call: each is a frame */
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	struct ibv_xrc_domain *domain = open_domain();
	struct ibv_qp_init_attr attr = { .xrc_domain = domain };
	struct timespec start, end;
	uint32_t number;

	need(!ibv_create_xrc_rcv_qp(&attr, &number), "a receive QP");
	/* The first calls load libraries and make the table file. */
	call(4, domain, number);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < count; i++)
		call(4, domain, number);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%ld\n",
	       ((end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec) / count);
	return 0;
}
