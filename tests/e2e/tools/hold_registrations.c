/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that holds registrations until it is killed: hold-registrations FILE COUNT
 * [leave|domains|twice]. One process, the creator, creates receive QPs. With "domains" it then
 * creates one in each of 65 other domains. The other process, the registrant, registers with the
 * first, and with "leave" unregisters again. With "twice" it opens the device twice, and registers
 * from both. Each prints a line with its role, its pid and the numbers that it is registered with
 * in the domain of FILE.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../xrc_qps/one_way/receiver.h"

#define MAX_QPS 64
#define LIFETIME 300	/* seconds, also if the test dies */

static void open_domain(struct side *side, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	must(fd >= 0);
	side_open_without_srq(side, 0, fd, false);
}

static void say(const char *role, const uint32_t *numbers, int count)
{
	printf("%s %d", role, (int)getpid());
	for (int i = 0; i < count; i++)
		printf(" %u", numbers[i]);
	putchar('\n');
	fflush(stdout);
}

static void registrant(const char *path, bool leave, bool twice, int from_creator)
{
	struct side second;
	uint32_t number;

	must(read(from_creator, &number, sizeof(number)) == sizeof(number));
	open_domain(&self, path);
	must_eq(ibv_reg_xrc_rcv_qp(self.domain, number), 0);
	if (twice) {
		open_domain(&second, path);
		must_eq(ibv_reg_xrc_rcv_qp(second.domain, number), 0);
	}
	if (leave)
		must_eq(ibv_unreg_xrc_rcv_qp(self.domain, number), 0);
	say("registrant", &number, leave ? 0 : 1);
}

static void creator(const char *path, int count, int more_domains, int to_registrant)
{
	uint32_t numbers[MAX_QPS];

	open_domain(&self, path);
	for (int i = 0; i < count; i++)
		numbers[i] = receive_qp(self.domain);
	while (more_domains--)
		receive_qp(ibv_open_xrc_domain(self.context, shared_file(), O_CREAT));
	say("creator", numbers, count);
	must(write(to_registrant, numbers, sizeof(numbers[0])) == sizeof(numbers[0]));
}

int main(int argc, char **argv)
{
	const char *word = argc == 4 ? argv[3] : "";
	bool leave = !strcmp(word, "leave"), twice = !strcmp(word, "twice"), is_creator;
	int more_domains = !strcmp(word, "domains") ? 65 : 0;
	int count = argc == 3 || leave || twice || more_domains ? atoi(argv[2]) : 0;
	int ends[2];

	if (count < 1 || count > MAX_QPS || pipe(ends))
		return 2;
	/* Each process uses the device on its own, as the processes of an MPI job do. */
	is_creator = fork() != 0;
	alarm(LIFETIME);
	if (is_creator) {
		creator(argv[1], count, more_domains, ends[1]);
	} else {
		close(ends[1]);
		registrant(argv[1], leave, twice, ends[0]);
	}
	pause();
	return 0;
}
