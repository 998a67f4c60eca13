/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that holds registrations until it is killed: hold-registrations FILE COUNT
 * [leave]. One process, the creator, creates receive QPs. The other, the registrant, registers with
 * the first of them, and with "leave" unregisters again. Each prints a line with its role, its pid
 * and the numbers that it is registered with.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define MAX_QPS 64
#define LIFETIME 300	/* seconds, also if the test dies */

static void die(const char *what, int err)
{
	fprintf(stderr, "hold-registrations: %s: %s\n", what, strerror(err));
	exit(1);
}

static struct ibv_xrc_domain *open_domain(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	struct ibv_xrc_domain *domain;

	if (fd < 0)
		die(path, errno);
	if (!list || !list[0])
		die("no device", ENODEV);
	context = ibv_open_device(list[0]);
	if (!context)
		die("ibv_open_device", errno);
	domain = ibv_open_xrc_domain(context, fd, O_CREAT);
	if (!domain)
		die("ibv_open_xrc_domain", errno);
	return domain;
}

static void say(const char *role, const uint32_t *numbers, int count)
{
	printf("%s %d", role, (int)getpid());
	for (int i = 0; i < count; i++)
		printf(" %u", numbers[i]);
	putchar('\n');
	fflush(stdout);
}

static void registrant(const char *path, bool leave, int from_creator)
{
	struct ibv_xrc_domain *domain;
	uint32_t number;
	int err;

	if (read(from_creator, &number, sizeof(number)) != sizeof(number))
		exit(1);
	domain = open_domain(path);
	err = ibv_reg_xrc_rcv_qp(domain, number);
	if (err)
		die("ibv_reg_xrc_rcv_qp", err);
	err = leave ? ibv_unreg_xrc_rcv_qp(domain, number) : 0;
	if (err)
		die("ibv_unreg_xrc_rcv_qp", err);
	say("registrant", &number, leave ? 0 : 1);
	pause();
}

static void creator(const char *path, int count, int to_registrant)
{
	struct ibv_qp_init_attr attr = { .xrc_domain = open_domain(path) };
	uint32_t numbers[MAX_QPS];

	for (int i = 0; i < count; i++) {
		int err = ibv_create_xrc_rcv_qp(&attr, &numbers[i]);

		if (err)
			die("ibv_create_xrc_rcv_qp", err);
	}
	say("creator", numbers, count);
	if (write(to_registrant, numbers, sizeof(numbers[0])) != sizeof(numbers[0]))
		die("write", errno);
	pause();
}

int main(int argc, char **argv)
{
	bool leave = argc == 4 && !strcmp(argv[3], "leave");
	int count = argc == 3 || leave ? atoi(argv[2]) : 0;
	int ends[2];

	if (count < 1 || count > MAX_QPS || pipe(ends))
		return 2;
	/* Each process uses the device on its own, as the processes of an MPI job do. */
	if (!fork()) {
		alarm(LIFETIME);
		close(ends[1]);
		registrant(argv[1], leave, ends[0]);
		return 0;
	}
	alarm(LIFETIME);
	creator(argv[1], count, ends[1]);
	return 0;
}
