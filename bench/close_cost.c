/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that measures ibv_close_device() on a device with many domains, each with one
 * receive QP. Prints the processor time for 1,000 and for 5,000 domains. Exit status 1 if 5,000
 * take more than six times as long as 1,000.
 */

#include "old_program.h"

#define FEW 1000
#define MANY 5000
#define LIMIT 6.0

/* In milliseconds of the processor. */
static double time_to_close(int domains)
{
	struct ibv_context *context = open_device();
	struct ibv_qp_init_attr attr = { 0 };
	uint32_t number;
	double start;

	while (domains--) {
		attr.xrc_domain = open_domain(context, -1);
		need(!ibv_create_xrc_rcv_qp(&attr, &number), "a receive QP");
	}
	start = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
	need(!ibv_close_device(context), "closing the device");
	return (nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e6;
}

/* The best of several runs: caches and other programs disturb. */
static double least_time_to_close(int domains)
{
	double least = time_to_close(domains);

	for (int i = 0; i < 4; i++) {
		double took = time_to_close(domains);

		if (took < least)
			least = took;
	}
	return least;
}

int main(void)
{
	double few = least_time_to_close(FEW), many = least_time_to_close(MANY);

	printf("closing a device: %d domains %.1f ms, %d domains %.1f ms, %.1f times (limit %.1f)\n",
	       FEW, few, MANY, many, many / few, LIMIT);
	return many > LIMIT * few;
}
