/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* When close(2) or waitpid(2) has returned, the objects have ended, as in the kernel. */
#include <softhca/tests/e2e/pair.h>
#include <softhca/tests/e2e/xrc.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 60

/* Starts a child that opens a domain on @fd, and exits with the domain open. */
static void __attribute__((noreturn)) open_and_end(int fd, bool killed)
{
	NEED(xrc_domain(rig_host(0), fd, O_CREAT));
	if (killed)
		raise(SIGKILL);
	_exit(0);
}

static bool ends_with_its_process(void)
{
	struct host *host = rig_host(0);
	int fd = xrc_file();

	for (int round = 0; round < ROUNDS; round++) {
		pid_t child = fork();
		int status;

		if (!child)
			open_and_end(fd, round & 1);
		CHECK(waitpid(child, &status, 0) == child && status == (round & 1 ? SIGKILL : 0));
		errno = 0;
		CHECK(!xrc_domain(host, fd, 0) && errno == EAGAIN);
	}
	return true;
}

static bool ends_with_its_device(void)
{
	struct host *host = rig_host(0);
	int fd = xrc_file();

	for (int round = 0; round < ROUNDS; round++) {
		struct host *other = rig_host(0);

		CHECK(xrc_srq(other, MADE(xrc_domain(other, fd, O_CREAT)), 4, 1));
		errno = EDOM;
		CHECK(!ibv_close_device(other->ctx) && errno == EDOM);
		errno = 0;
		CHECK(!xrc_domain(host, fd, 0) && errno == EAGAIN);
	}
	return true;
}

/* The adapter no longer reaches the memory. */
static bool nothing_arrives_after_the_close(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct pair pair = pair_up(IBV_QPT_RC, NULL);
		struct ibv_sge sge;
		struct ibv_send_wr wr =
			pair_remote_wr(&pair, &sge, IBV_WR_RDMA_WRITE, 0, 0, RIG_BUFFER);

		memset(pair.a->buffer, 1, RIG_BUFFER);
		for (int i = 0; i < RIG_DEPTH; i++)
			CHECK(!rig_post(pair.qa, &wr));
		CHECK(!ibv_close_device(pair.b->ctx));
		memset(pair.b->buffer, 0, RIG_BUFFER);
		usleep(1000);
		CHECK(!memchr(pair.b->buffer, 1, RIG_BUFFER));
		CHECK(!ibv_destroy_qp(pair.qa));
		rig_free_host(pair.a);
	}
	return true;
}

static const struct rig_case cases[] = {
	CASE(ends_with_its_process), CASE(ends_with_its_device),
	CASE(nothing_arrives_after_the_close),
};

RIG_MAIN(cases)
