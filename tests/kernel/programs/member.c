/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A legacy program that shares a domain. It reads commands of one letter, and answers by a line.
 *
 *	member FILE [NUMBER]	creates a receive QP in INIT, or registers; prints its number
 *
 *	q query: the state, or -errno	u unregister: 0 or errno
 *	c close the domain: 0 or errno
 *	f fork a child that does not end: its pid	x the same, and it executes another program
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

static struct ibv_xrc_domain *domain;
static uint32_t number;

static void die(const char *what, int error)
{
	fprintf(stderr, "member: %s: %s\n", what, strerror(error));
	exit(1);
}

/* The file stays open, as in most programs. */
static void open_domain(const char *path)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (!context || fd < 0)
		die("no device, or no file", errno);
	domain = ibv_open_xrc_domain(context, fd, O_CREAT);
	if (!domain)
		die("ibv_open_xrc_domain", errno);
}

/* The adapter learns of a QP when it leaves RESET, so this takes the QP to INIT. */
static void create(void)
{
	struct ibv_qp_init_attr init = { .xrc_domain = domain };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	int error = ibv_create_xrc_rcv_qp(&init, &number);

	if (error)
		die("ibv_create_xrc_rcv_qp", error);
	error = ibv_modify_xrc_rcv_qp(domain, number, &attr, mask);
	if (error)
		die("ibv_modify_xrc_rcv_qp", error);
}

static void join(const char *wanted)
{
	int error;

	number = (uint32_t)strtoul(wanted, NULL, 0);
	error = ibv_reg_xrc_rcv_qp(domain, number);
	if (error)
		die("ibv_reg_xrc_rcv_qp", error);
}

static int query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int error = ibv_query_xrc_rcv_qp(domain, number, &attr, IBV_QP_STATE, &init);

	return error ? -error : (int)attr.qp_state;
}

static int child(int executes)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork", errno);
	if (pid)
		return (int)pid;
	fclose(stdin);
	if (executes)
		execlp("sleep", "sleep", "1000", (char *)NULL);
	for (;;)
		pause();
}

static int obey(int letter)
{
	switch (letter) {
	case 'q':
		return query();
	case 'u':
		return ibv_unreg_xrc_rcv_qp(domain, number);
	case 'c':
		return ibv_close_xrc_domain(domain);
	case 'f':
	case 'x':
		return child(letter == 'x');
	default:
		die("no such letter", EINVAL);
		return -1;
	}
}

int main(int argc, char **argv)
{
	int letter;

	if (argc < 2)
		die("usage: member FILE [NUMBER]", EINVAL);
	open_domain(argv[1]);
	if (argc > 2)
		join(argv[2]);
	else
		create();
	printf("%u\n", number);
	fflush(stdout);
	while ((letter = getchar()) != EOF) {
		if (letter == '\n')
			continue;
		printf("%d\n", obey(letter));
		fflush(stdout);
	}
	_exit(0);
}
