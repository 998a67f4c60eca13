/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions that ring doorbells are replaced in each context. Programs that fork, execute
 * others, close what they do not know or open many contexts still get their completions.
 */
#include <harness/emulated.h>
#include <e2e/pair.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exchange(const struct pair *pair)
{
	for (uint64_t i = 1; i <= 3; i++) {
		must_eq(pair_post_recv(pair, 0, PAIR_BYTES, i), 0);
		must_eq(ibv_req_notify_cq(pair->b->cq, 0), 0);
		pair_must_send(pair, PAIR_BYTES, IBV_WC_SUCCESS);
		rig_must_be_notified(pair->b);
		rig_must_complete(pair->b->cq, i, IBV_WC_SUCCESS);
	}
}

ROW("many contexts ring, and go on when others are closed")
{
	struct pair pair[8];

	for (int i = 0; i < 8; i++)
		pair[i] = pair_up(IBV_QPT_RC);
	for (int i = 0; i < 8; i++)
		exchange(&pair[i]);
	for (int i = 0; i < 7; i++)
		pair_tear_down(&pair[i]);
	exchange(&pair[7]);
}

ROW("parent and child ring at the same time, each for contexts of its own")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	pid_t child;

	exchange(&pair);
	child = fork();
	if (!child) {
		row_inherit("child: ");
		pair = pair_up(IBV_QPT_RC);
		exchange(&pair);
		_exit(0);
	}
	exchange(&pair);
	must_end(child, 0);
	exchange(&pair);
}

ROW("a program rings that was executed by one with open contexts")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	pid_t child;

	exchange(&pair);
	child = fork();
	if (!child) {
		pair = pair_up(IBV_QPT_RC);
		execl("/proc/self/exe", "doorbells", "many contexts ring", NULL);
		_exit(1);
	}
	must_end(child, 0);
	exchange(&pair);
}

/* By system calls, which no preloaded library sees, as closefrom() and close_range() make them. */
static void close_unseen(int first)
{
	for (int fd = first; fd < 1000; fd++)
		syscall(SYS_close, fd);
}

/* The number of the last one is RLIMIT_NOFILE - 1, so all that were closed are those of files. */
static int open_files(int *files)
{
	int count = 0;

	while ((files[count] = memfd_create("file", 0)) >= 0)
		count++;
	must(count > 0);
	return count;
}

ROW("numbers that a program closed unseen are those of its own files")
{
	struct rlimit limit = { 1000, 1000 };
	struct pair pair = pair_up(IBV_QPT_RC);
	struct stat st;
	int files[1000], count;

	exchange(&pair);
	close_unseen(3);
	must(!setrlimit(RLIMIT_NOFILE, &limit));
	count = open_files(files);
	must_eq(count, 997);
	for (int i = 0; i < 100; i++)
		must(!close(files[i]));
	pair = pair_up(IBV_QPT_RC);
	exchange(&pair);
	for (int i = 100; i < count; i++) {
		must(!fstat(files[i], &st));
		must(S_ISREG(st.st_mode) && !st.st_size);
	}
}

ROW("a child has the files whose numbers the parent had closed unseen")
{
	struct rlimit limit = { 1000, 1000 };
	int files[1000], count;
	pid_t child;

	must(!flock(rig_host(0)->ctx->cmd_fd, LOCK_EX));
	close_unseen(3);
	must(!setrlimit(RLIMIT_NOFILE, &limit));
	count = open_files(files);
	child = fork();
	if (!child) {
		row_inherit("child: ");
		for (int i = 0; i < count; i++)
			must(fcntl(files[i], F_GETFD) >= 0);
		_exit(0);
	}
	must_end(child, 0);
}

/* A program may close high numbers only, and keep the device. */
ROW("sockets with numbers that a program closed unseen meet no command")
{
	struct host *host = rig_host(0);
	int ends[2];
	char byte;

	close_unseen(500);
	must(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	for (int fd = 500; fd < 1000; fd++)
		must_eq(dup2(ends[0], fd), fd);
	must(!ibv_alloc_pd(host->ctx));
	must(!close(host->ctx->cmd_fd));
	must_eq(recv(ends[1], &byte, 1, MSG_DONTWAIT), -1);
	must_eq(write(ends[0], "", 1), 1);
	must_eq(read(ends[1], &byte, 1), 1);
}
