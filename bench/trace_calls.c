/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that makes many short legacy calls, five functions deep: trace_calls COUNT. It
 * registers again and again with the receive QP that it has created, for which no kernel is asked.
 * Prints the nanoseconds of one call.
 */

#include "old_program.h"

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
	struct ibv_xrc_domain *domain = open_domain(open_device(), domain_file());
	struct ibv_qp_init_attr attr = { .xrc_domain = domain };
	uint32_t number;
	double start;

	need(!ibv_create_xrc_rcv_qp(&attr, &number), "a receive QP");
	/* The first calls load libraries and make the table file. */
	call(4, domain, number);
	start = nanoseconds(CLOCK_MONOTONIC);
	for (long i = 0; i < count; i++)
		call(4, domain, number);
	printf("%.0f\n", (nanoseconds(CLOCK_MONOTONIC) - start) / (double)count);
	return 0;
}
