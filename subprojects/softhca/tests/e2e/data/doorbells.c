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

/* ---- doorbells that wake nothing ---- */

/*
 * The provider's own functions, which ring without waking the daemon: a context has them until its
 * first CQ. A program that keeps them calls them.
 */
static struct ibv_context_ops raw_ops(struct ibv_context *beside)
{
	struct ibv_context *ctx = MADE(ibv_open_device(beside->device));
	const struct ibv_context_ops ops = ctx->ops;

	must_eq(ibv_close_device(ctx), 0);
	must(ops.post_send != beside->ops.post_send);
	must(ops.req_notify_cq != beside->ops.req_notify_cq);
	return ops;
}

/*
 * A second QP of the sender, whose request is given up after 655 ms, the longest of all RNR timers.
 * The daemon then sleeps until that timer, or until it looks for doorbells.
 */
static void post_for_655_ms(const struct pair *pair)
{
	struct rig_link link = rig_link_to(0, 0), back = link;
	struct pair slow = *pair;
	struct ibv_send_wr wr;

	slow.qa = rig_qp(pair->a, IBV_QPT_RC, NULL);
	slow.qb = rig_qp(pair->b, IBV_QPT_RC, NULL);
	link.dest_qpn = slow.qb->qp_num;
	link.dlid = pair->b->lid;
	link.rnr_retry = 1;
	back.dest_qpn = slow.qa->qp_num;
	back.dlid = pair->a->lid;
	back.min_rnr_timer = 0;
	must_eq(rig_bring_up(slow.qb, &back), 0);
	must_eq(rig_bring_up(slow.qa, &link), 0);
	wr = pair_wr(&slow, IBV_WR_SEND, 0, 0, PAIR_BYTES);
	wr.wr_id = 655;
	must_eq(rig_post(slow.qa, &wr), 0);
	usleep(30000); /* so that the daemon sleeps */
}

ROW("a request whose doorbell wakes nothing is found long before a timer")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	const struct ibv_context_ops raw = raw_ops(pair.a->ctx);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_SEND, 0, 0, PAIR_BYTES), *bad;

	pair_must_receive(&pair, 1);
	post_for_655_ms(&pair);
	must_eq(raw.post_send(pair.qa, &wr, &bad), 0);
	rig_must_complete(pair.a->cq, wr.wr_id, IBV_WC_SUCCESS);
	rig_must_complete(pair.a->cq, 655, IBV_WC_RNR_RETRY_EXC_ERR);
}

/* A message has come before the CQ is armed, so arming it raises an event. */
ROW("a CQ whose arming wakes nothing is found armed long before a timer")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	const struct ibv_context_ops raw = raw_ops(pair.b->ctx);

	pair_must_receive(&pair, 1);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	post_for_655_ms(&pair);
	must_eq(raw.req_notify_cq(pair.b->cq, 0), 0);
	rig_must_be_notified(pair.b);
	rig_must_be_quiet(pair.a->cq, 100);
	rig_must_complete(pair.a->cq, 655, IBV_WC_RNR_RETRY_EXC_ERR);
}
