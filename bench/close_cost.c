/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that measures ibv_close_device() on a device with many domains, each with one
 * receive QP. Prints the processor time for 1,000 and for 5,000 domains. Exit status 1 if 5,000
 * take more than six times as long as 1,000.
 */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FEW 1000
#define MANY 5000
#define LIMIT 6.0

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "close_cost: %s\n", what);
	exit(2);
}

static double processor_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double time_to_close(int domains)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_qp_init_attr attr;
	uint32_t number;
	double start;

	need(context != NULL, "no device");
	while (domains--) {
		attr.xrc_domain = ibv_open_xrc_domain(context, -1, O_CREAT);
		need(attr.xrc_domain != NULL, "a domain");
		need(!ibv_create_xrc_rcv_qp(&attr, &number), "a receive QP");
	}
	start = processor_ms();
	need(!ibv_close_device(context), "closing the device");
	return processor_ms() - start;
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

	printf("closing a device: %d domains %.1f ms, %d domains %.1f ms, %.1f times (limit %.0f)\n",
	       FEW, few, MANY, many, many / few, LIMIT);
	return many > LIMIT * few;
}
