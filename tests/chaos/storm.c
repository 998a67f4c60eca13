/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One process of the storm: an old program that opens, creates, registers, unregisters, modifies,
 * queries and closes at random in domains that it shares with others, until it reads a command or
 * is killed.
 *
 * usage: storm DIRECTORY SEED
 * On standard input: s = stop working, g = go on, q = undo everything and exit. On standard output
 * it answers s with a line of the numbers that are registered. A verb with a wrong result prints a
 * line that begins with "FAIL".
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

#include <harness/row.h>
#include "../../abi/rc_masks.h"

#define DOMAINS 2
#define NUMBERS 24	/* of each domain on the board that all processes share */

static struct ibv_context *context;
static struct ibv_xrc_domain *domains[DOMAINS];
static uint32_t held[DOMAINS][NUMBERS];
static uint32_t (*board)[NUMBERS];
static const char *directory;
static unsigned seed;

/* A verb on a number of the board returns EINVAL if the QP of that number was destroyed. */
#define must_be_0_or_einval(err) must_eq((err) == EINVAL ? 0 : (err), 0)

static int open_file(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	must(fd >= 0);
	return fd;
}

static void open_board(void)
{
	int fd = open_file("board");

	must(!ftruncate(fd, sizeof(held)));
	board = mmap(NULL, sizeof(held), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(board != MAP_FAILED);
	close(fd);
}

static void open_context(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	must(list && list[0]);
	context = ibv_open_device(list[0]);
	must(context);
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
	must(domains[d]);
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
	must_eq(err, holds_any(d) ? EBUSY : 0);
	if (!err)
		domains[d] = NULL;
}

static void create(int d, int i)
{
	struct ibv_qp_init_attr attr;

	if (held[d][i])
		return;
	attr.xrc_domain = domains[d];
	must_eq(ibv_create_xrc_rcv_qp(&attr, &held[d][i]), 0);
	board[d][i] = held[d][i];
}

static void unreg(int d, int i)
{
	if (!held[d][i])
		return;
	must_eq(ibv_unreg_xrc_rcv_qp(domains[d], held[d][i]), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(domains[d], held[d][i]), EINVAL);
	held[d][i] = 0;
}

static bool holds(int d, uint32_t number)
{
	for (int i = 0; i < NUMBERS; i++)
		if (held[d][i] == number)
			return true;
	return false;
}

/* The state of a QP of the storm is RESET or INIT, and from both it may go to INIT. */
static void must_serve(int d, uint32_t number, int err)
{
	if (holds(d, number))
		must_eq(err, 0);
	else
		must_be_0_or_einval(err);
}

static void reg(int d, int i)
{
	uint32_t number = board[d][i];
	int err;

	if (!number)
		return;
	err = ibv_reg_xrc_rcv_qp(domains[d], number);
	must_serve(d, number, err);
	if (holds(d, number))
		return;
	if (!err && !held[d][i])
		held[d][i] = number;
	else if (!err)
		must_eq(ibv_unreg_xrc_rcv_qp(domains[d], number), 0);
}

static void modify(int d, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	uint32_t number = board[d][i];

	if (number)
		must_serve(d, number, ibv_modify_xrc_rcv_qp(domains[d], number, &attr, MASK_INIT));
}

static void query(int d, int i)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	uint32_t number = board[d][i];
	int err;

	if (!number)
		return;
	err = ibv_query_xrc_rcv_qp(domains[d], number, &attr, 0, &init_attr);
	must_serve(d, number, err);
	if (!err && attr.qp_state != IBV_QPS_RESET)
		must_eq(attr.qp_state, IBV_QPS_INIT);
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
			must_eq(ibv_reg_xrc_rcv_qp(domains[d], held[d][i]), 0);
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
	must_eq(ibv_close_device(context), 0);
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
	row_begin("storm");
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
