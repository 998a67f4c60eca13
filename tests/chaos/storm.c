/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One process of the storm: an old program that opens, creates, registers, unregisters, modifies,
 * queries and closes at random in domains that it shares with others, until it reads a command or
 * is killed.
 *
 * usage: storm DIRECTORY SEED
 * On standard input: s = stop working, g = go on, q = undo everything and exit. On standard output
 * it answers s with a line of the numbers that are registered. A verb with a wrong result prints a
 * line that begins with "unexpected".
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "../rc_masks.h"

#define DOMAINS 2
#define NUMBERS 24	/* of each domain on the board that all processes share */

static struct ibv_context *context;
static struct ibv_xrc_domain *domains[DOMAINS];
static uint32_t held[DOMAINS][NUMBERS];
static uint32_t (*board)[NUMBERS];
static const char *directory;
static unsigned seed;

static void __attribute__((noreturn)) unexpected(const char *what, int err)
{
	printf("unexpected: %s: %s\n", what, strerror(err));
	fflush(stdout);
	_exit(3);
}

static void expect(const char *what, int err, int wanted)
{
	if (err != wanted)
		unexpected(what, err);
}

/* A verb on a number of the board returns EINVAL if the QP of that number was destroyed. */
static void expect_0_or_einval(const char *what, int err)
{
	if (err != EINVAL)
		expect(what, err, 0);
}

static int open_file(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		unexpected(path, errno);
	return fd;
}

static void open_board(void)
{
	int fd = open_file("board");

	if (ftruncate(fd, sizeof(held)))
		unexpected("ftruncate", errno);
	board = mmap(NULL, sizeof(held), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		unexpected("mmap", errno);
	close(fd);
}

static void open_context(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!context)
		unexpected("ibv_open_device", errno);
}

static void open_domain(int d)
{
	char name[16];
	int fd;

	if (domains[d])
		return;
	snprintf(name, sizeof(name), "domain%d", d);
	fd = open_file(name);
	domains[d] = ibv_open_xrc_domain(context, fd, O_CREAT);
	if (!domains[d])
		unexpected("ibv_open_xrc_domain", errno);
	close(fd);
}

static bool holds_any(int d)
{
	for (int i = 0; i < NUMBERS; i++)
		if (held[d][i])
			return true;
	return false;
}

static void close_domain(int d, int i)
{
	int err = ibv_close_xrc_domain(domains[d]);

	(void)i;
	expect("ibv_close_xrc_domain", err, holds_any(d) ? EBUSY : 0);
	if (!err)
		domains[d] = NULL;
}

static void create(int d, int i)
{
	struct ibv_qp_init_attr attr;

	if (held[d][i])
		return;
	attr.xrc_domain = domains[d];
	expect("ibv_create_xrc_rcv_qp", ibv_create_xrc_rcv_qp(&attr, &held[d][i]), 0);
	board[d][i] = held[d][i];
}

static void unreg(int d, int i)
{
	if (!held[d][i])
		return;
	expect("unreg", ibv_unreg_xrc_rcv_qp(domains[d], held[d][i]), 0);
	expect("second unreg", ibv_unreg_xrc_rcv_qp(domains[d], held[d][i]), EINVAL);
	held[d][i] = 0;
}

static bool holds(int d, uint32_t number)
{
	for (int i = 0; i < NUMBERS; i++)
		if (held[d][i] == number)
			return true;
	return false;
}

static void reg(int d, int i)
{
	uint32_t number = board[d][i];
	int err;

	if (!number)
		return;
	err = ibv_reg_xrc_rcv_qp(domains[d], number);
	if (holds(d, number)) {
		expect("reg again", err, 0);
		return;
	}
	expect_0_or_einval("ibv_reg_xrc_rcv_qp", err);
	if (!err && !held[d][i])
		held[d][i] = number;
	else if (!err)
		expect("unreg after reg", ibv_unreg_xrc_rcv_qp(domains[d], number), 0);
}

static void modify(int d, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	uint32_t number = board[d][i];

	if (number)
		expect_0_or_einval("ibv_modify_xrc_rcv_qp",
				   ibv_modify_xrc_rcv_qp(domains[d], number, &attr, MASK_INIT));
}

static void query(int d, int i)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	uint32_t number = board[d][i];
	int err = number ? ibv_query_xrc_rcv_qp(domains[d], number, &attr, 0, &init_attr) : EINVAL;

	expect_0_or_einval("ibv_query_xrc_rcv_qp", err);
	if (!err && attr.qp_state != IBV_QPS_RESET && attr.qp_state != IBV_QPS_INIT)
		unexpected("state", (int)attr.qp_state);
}

static void step(void)
{
	static void (*const verbs[])(int d, int i) = {
		close_domain, create, reg, reg, unreg, unreg, modify, query
	};
	int d = rand_r(&seed) % DOMAINS, i = rand_r(&seed) % NUMBERS;

	open_domain(d);
	verbs[(size_t)rand_r(&seed) % (sizeof(verbs) / sizeof(*verbs))](d, i);
}

static void report(void)
{
	for (int d = 0; d < DOMAINS; d++) {
		for (int i = 0; i < NUMBERS; i++) {
			if (!held[d][i])
				continue;
			expect("reg again", ibv_reg_xrc_rcv_qp(domains[d], held[d][i]), 0);
			printf("%u ", held[d][i]);
		}
	}
	printf("\n");
	fflush(stdout);
}

static void undo_all(void)
{
	for (int d = 0; d < DOMAINS; d++) {
		for (int i = 0; i < NUMBERS; i++)
			unreg(d, i);
		if (domains[d])
			close_domain(d, 0);
	}
	expect("ibv_close_device", ibv_close_device(context), 0);
	exit(0);
}

/*
 * Returns the next command of storm.py. If there is none, waits if @wait is set, and else returns
 * 0. Exits if storm.py has ended.
 */
static char wanted(bool wait)
{
	struct pollfd pollfd = { .fd = STDIN_FILENO, .events = POLLIN };
	char command;

	if (!poll(&pollfd, 1, wait ? -1 : 0))
		return 0;
	if (read(STDIN_FILENO, &command, 1) != 1)
		_exit(4);
	return command;
}

int main(int argc, char **argv)
{
	char command;

	if (argc != 3)
		return 2;
	directory = argv[1];
	seed = (unsigned)atoi(argv[2]);
	open_board();
	open_context();
	for (;;) {
		command = wanted(false);
		if (command == 's') {
			report();
			command = wanted(true);
		}
		if (command == 'q')
			undo_all();
		step();
	}
}
