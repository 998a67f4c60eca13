/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One process of the storm: an old program that opens, creates, registers, unregisters, modifies,
 * queries and closes at random in domains that it shares with others, until it reads a command or
 * is killed.
 *
 * usage: storm DIRECTORY SEED
 * On standard input: s = stop working, r = report what is registered, g = go on, q = undo
 * everything and exit. On standard output it answers s with "still", and r with a line of
 * "DOMAIN:NUMBER" words. A verb with a wrong result prints a line that begins with "unexpected".
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "../rc_masks.h"

#define DOMAINS 2
#define NUMBERS 24	/* of each domain on the board that all processes share */

struct board {
	uint32_t numbers[DOMAINS][NUMBERS];
};

static struct ibv_context *context;
static struct ibv_xrc_domain *domains[DOMAINS];
static uint32_t held[DOMAINS][NUMBERS];
static struct board *board;
static const char *directory;
static unsigned seed;

static void unexpected(const char *what, int err)
{
	printf("unexpected: %s: %s\n", what, strerror(err));
	fflush(stdout);
	_exit(3);
}

/* A verb on a number of the board returns EINVAL if the QP of that number was destroyed. */
static void expect_0_or_einval(const char *what, int err)
{
	if (err && err != EINVAL)
		unexpected(what, err);
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

	if (ftruncate(fd, sizeof(*board)))
		unexpected("ftruncate", errno);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
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

static int holds_any(int d)
{
	for (int i = 0; i < NUMBERS; i++)
		if (held[d][i])
			return 1;
	return 0;
}

static void close_domain(int d)
{
	int err = ibv_close_xrc_domain(domains[d]);

	if (holds_any(d) ? err != EBUSY : err)
		unexpected("ibv_close_xrc_domain", err);
	if (!err)
		domains[d] = NULL;
}

static void create(int d, int i)
{
	struct ibv_qp_init_attr attr;
	uint32_t number;
	int err;

	if (held[d][i])
		return;
	attr.xrc_domain = domains[d];
	err = ibv_create_xrc_rcv_qp(&attr, &number);
	if (err)
		unexpected("ibv_create_xrc_rcv_qp", err);
	held[d][i] = number;
	board->numbers[d][i] = number;
}

static void unreg(int d, int i)
{
	int err;

	if (!held[d][i])
		return;
	err = ibv_unreg_xrc_rcv_qp(domains[d], held[d][i]);
	if (err)
		unexpected("ibv_unreg_xrc_rcv_qp", err);
	err = ibv_unreg_xrc_rcv_qp(domains[d], held[d][i]);
	if (err != EINVAL)
		unexpected("second ibv_unreg_xrc_rcv_qp", err);
	held[d][i] = 0;
}

static void reg_again(int d, int i)
{
	int err = ibv_reg_xrc_rcv_qp(domains[d], held[d][i]);

	if (err)
		unexpected("reg again", err);
}

static int place_of(int d, uint32_t number)
{
	for (int i = 0; i < NUMBERS; i++)
		if (held[d][i] == number)
			return i;
	return -1;
}

static void reg(int d, int i)
{
	uint32_t number = board->numbers[d][i];
	int place = place_of(d, number), err;

	if (!number)
		return;
	if (place >= 0) {
		reg_again(d, place);
		return;
	}
	err = ibv_reg_xrc_rcv_qp(domains[d], number);
	expect_0_or_einval("ibv_reg_xrc_rcv_qp", err);
	if (!err && !held[d][i])
		held[d][i] = number;
	else if (!err && ibv_unreg_xrc_rcv_qp(domains[d], number))
		unexpected("unreg of what was just registered", errno);
}

static void modify(int d, int i)
{
	struct ibv_qp_attr attr;
	uint32_t number = board->numbers[d][i];

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	if (number)
		expect_0_or_einval("ibv_modify_xrc_rcv_qp",
				   ibv_modify_xrc_rcv_qp(domains[d], number, &attr, MASK_INIT));
}

static void query(int d, int i)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	uint32_t number = board->numbers[d][i];
	int err = number ? ibv_query_xrc_rcv_qp(domains[d], number, &attr, 0, &init_attr) : EINVAL;

	expect_0_or_einval("ibv_query_xrc_rcv_qp", err);
	if (!err && attr.qp_state != IBV_QPS_RESET && attr.qp_state != IBV_QPS_INIT)
		unexpected("state", (int)attr.qp_state);
}

static void step(void)
{
	int d = rand_r(&seed) % DOMAINS, i = rand_r(&seed) % NUMBERS;

	open_domain(d);
	switch (rand_r(&seed) % 8) {
	case 0:
		close_domain(d);
		break;
	case 1:
		create(d, i);
		break;
	case 2:
	case 3:
		reg(d, i);
		break;
	case 4:
	case 5:
		unreg(d, i);
		break;
	case 6:
		modify(d, i);
		break;
	default:
		query(d, i);
		break;
	}
}

static void report(void)
{
	for (int d = 0; d < DOMAINS; d++) {
		for (int i = 0; i < NUMBERS; i++) {
			if (!held[d][i])
				continue;
			reg_again(d, i);
			printf("%d:%u ", d, held[d][i]);
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
			close_domain(d);
	}
	if (ibv_close_device(context))
		unexpected("ibv_close_device", errno);
	exit(0);
}

/*
 * Returns the next command of storm.py. If there is none, waits if @wait is set, and else returns
 * 0. Exits if storm.py has ended.
 */
static char wanted(int wait)
{
	struct pollfd pollfd = { .fd = STDIN_FILENO, .events = POLLIN };
	char command = 'q';

	if (!poll(&pollfd, 1, wait ? -1 : 0))
		return 0;
	if (read(STDIN_FILENO, &command, 1) != 1)
		_exit(4);
	return command;
}

/* Reports whenever r comes, until another command comes. */
static char stand_still(void)
{
	char command;

	printf("still\n");
	fflush(stdout);
	while ((command = wanted(1)) == 'r')
		report();
	return command;
}

int main(int argc, char **argv)
{
	char command;

	if (argc != 3) {
		fprintf(stderr, "usage: storm DIRECTORY SEED\n");
		return 2;
	}
	directory = argv[1];
	seed = (unsigned)atoi(argv[2]);
	open_board();
	open_context();
	for (;;) {
		command = wanted(0);
		if (command == 's')
			command = stand_still();
		if (command == 'q')
			undo_all();
		step();
	}
}
