/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that registers with a receive QP and unregisters, 10,000 times. Prints the bytes
 * that each registration leaks. Exit status 1 unless that is 0. Resident memory is counted in
 * pages, so up to two pages in all count as 0.
 */

#include "old_program.h"

#define ROUNDS 10000

static long resident_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	long size, resident = 0;

	need(statm && fscanf(statm, "%ld %ld", &size, &resident) == 2, "/proc/self/statm");
	fclose(statm);
	return resident * sysconf(_SC_PAGESIZE);
}

static void rounds(struct ibv_xrc_domain *domain, uint32_t number)
{
	for (int i = 0; i < ROUNDS; i++)
		need(!ibv_reg_xrc_rcv_qp(domain, number) && !ibv_unreg_xrc_rcv_qp(domain, number),
		     "reg and unreg");
}

int main(void)
{
	int fd = domain_file();
	struct ibv_xrc_domain *creator = open_domain(open_device(), fd);
	/* The same device once more is another registrant. */
	struct ibv_xrc_domain *registrant = open_domain(open_device(), fd);
	struct ibv_qp_init_attr attr = { .xrc_domain = creator };
	long before, kept;
	uint32_t number;

	need(!ibv_create_xrc_rcv_qp(&attr, &number), "a receive QP");
	rounds(registrant, number);	/* memory that is allocated once */
	before = resident_bytes();
	rounds(registrant, number);
	kept = resident_bytes() - before;
	kept = kept > 2 * sysconf(_SC_PAGESIZE) ? kept / ROUNDS : 0;
	printf("%s: %ld bytes stay of each registration that has ended (limit 0)\n",
	       ibv_get_device_name(creator->context->device), kept);
	return kept > 0;
}
