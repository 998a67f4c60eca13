/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that registers with a receive QP and unregisters, 10,000 times. Prints the bytes
 * that each registration leaks. Exit status 1 unless that is 0. Resident memory is counted in
 * pages, so up to two pages in all count as 0.
 */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 10000

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "ended_handles: %s\n", what);
	exit(2);
}

static long resident_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	long size, resident = 0;

	need(statm && fscanf(statm, "%ld %ld", &size, &resident) == 2, "/proc/self/statm");
	fclose(statm);
	return resident * sysconf(_SC_PAGESIZE);
}

/* The same device once more is another registrant. */
static struct ibv_xrc_domain *open_domain(int fd)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_xrc_domain *domain = context ? ibv_open_xrc_domain(context, fd, O_CREAT) : NULL;

	need(domain != NULL, "no device, or no XRC domain on it");
	return domain;
}

static void rounds(struct ibv_xrc_domain *domain, uint32_t number)
{
	for (int i = 0; i < ROUNDS; i++)
		need(!ibv_reg_xrc_rcv_qp(domain, number) && !ibv_unreg_xrc_rcv_qp(domain, number),
		     "reg and unreg");
}

int main(void)
{
	char path[] = "/tmp/ended-handles-XXXXXX";
	int fd = mkstemp(path);
	struct ibv_xrc_domain *creator, *registrant;
	struct ibv_qp_init_attr attr;
	long before, kept;
	uint32_t number;

	need(fd >= 0 && !unlink(path), "a file for the domain");
	creator = open_domain(fd);
	registrant = open_domain(fd);
	attr.xrc_domain = creator;
	need(!ibv_create_xrc_rcv_qp(&attr, &number), "a receive QP");
	rounds(registrant, number);	/* memory that is allocated once */
	before = resident_bytes();
	rounds(registrant, number);
	kept = (resident_bytes() - before) / ROUNDS;
	printf("%s: %ld bytes stay of each registration that has ended (limit 0)\n",
	       ibv_get_device_name(creator->context->device), kept);
	return kept > 0;
}
