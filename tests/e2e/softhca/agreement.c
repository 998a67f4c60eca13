// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/*
 * What the kernel does that is no refusal: when what is gone, who hears of what, and in which order. The same program runs
 * on the emulated HCA and on a real kernel (tests/kernel).
 *
 * AGREEMENT_RAISE is a shell command that raises COMM_EST on a QP of the first device; the QP's number and how often are put
 * behind it. AGREEMENT_OPENED says whether handles from ibv_open_qp hear events: "hear" or "deaf".
 */
#include "ground.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDLES 64
#define MANY	5000	/* events: more than a pipe holds */

static bool raise_on(uint32_t qpn, int times)
{
	char command[512];

	snprintf(command, sizeof(command), "%s %u %d", getenv("AGREEMENT_RAISE"), qpn, times);
	return !system(command);
}

static bool opened_hear(void)
{
	const char *word = getenv("AGREEMENT_OPENED");

	return !word || strcmp(word, "deaf") != 0;
}

/* A domain that nobody has is anybody's to make. */
static bool nobody_has(int fd)
{
	struct host *host = rig_host(0);
	struct ground ground = { .host = host };
	struct ibv_xrcd *xrcd = ground_domain(&ground, fd, O_CREAT | O_EXCL);

	CHECK(xrcd && !ibv_close_xrcd(xrcd));
	rig_free_host(host);
	return true;
}

/* Everything is gone when close() of the device returns, however much the program has left open. */
static bool closing_the_device_frees_the_domain(void)
{
	for (int round = 0; round < 20; round++) {
		struct host *host = rig_host(0);
		struct ground ground = { .host = host };
		int fd = ground_file();
		struct ibv_xrcd *xrcd = ground_domain(&ground, fd, O_CREAT);

		CHECK(xrcd && ground_target(&ground, xrcd));
		CHECK(!ibv_close_device(host->ctx));
		CHECK(nobody_has(fd));
		close(fd);
	}
	return true;
}

/* As soon as a parent knows of the death, all that the process had is gone. */
static bool a_dead_process_has_left_nothing(void)
{
	for (int round = 0; round < 20; round++) {
		int fd = ground_file(), ready[2];
		char byte;
		pid_t child;

		CHECK(!pipe(ready));
		child = fork();
		NEED(child >= 0);
		if (!child) {
			struct ground ground = { .host = rig_host(0) };

			NEED(ground_target(&ground, ground_domain(&ground, fd, O_CREAT)) && write(ready[1], "x", 1) == 1);
			pause();
		}
		CHECK(read(ready[0], &byte, 1) == 1 && !kill(child, SIGKILL) && waitpid(child, NULL, 0) == child);
		CHECK(nobody_has(fd));
		close(fd);
		close(ready[0]);
		close(ready[1]);
	}
	return true;
}

/* A target in a domain of its own, and a handle more of it. */
struct shared {
	struct ground ground;
	struct ibv_xrcd *xrcd;
	struct ibv_qp *target, *opened;
};

static struct shared share(void)
{
	struct shared s = { .ground = { .host = rig_host(0) } };

	s.xrcd = ground_domain(&s.ground, -1, O_CREAT);
	NEED(s.xrcd);
	s.target = ground_target(&s.ground, s.xrcd);
	NEED(s.target);
	s.opened = ground_open_target(&s.ground, s.xrcd, s.target->qp_num);
	NEED(s.opened);
	return s;
}

static bool next_is_of(struct ibv_context *ctx, const struct ibv_qp *qp)
{
	struct ibv_async_event event;

	CHECK(rig_async(ctx, &event));
	ibv_ack_async_event(&event);
	CHECK(event.event_type == IBV_EVENT_COMM_EST && event.element.qp == qp);
	return true;
}

static bool nothing_more(struct ibv_context *ctx)
{
	CHECK(!rig_readable(ctx->async_fd, 50));
	return true;
}

static bool who_hears(void)
{
	struct shared s = share();
	struct ibv_context *ctx = s.ground.host->ctx;

	for (int i = 0; i < 2; i++) {
		CHECK(raise_on(s.target->qp_num, 1) && next_is_of(ctx, s.target));
		CHECK((!opened_hear() || next_is_of(ctx, s.opened)) && nothing_more(ctx));
	}
	return true;
}

static bool who_hears_when_the_creator_has_left(void)
{
	struct shared s = share();
	struct ibv_context *ctx = s.ground.host->ctx;
	uint32_t qpn = s.target->qp_num;

	CHECK(!ibv_destroy_qp(s.target) && raise_on(qpn, 1));
	return (!opened_hear() || next_is_of(ctx, s.opened)) && nothing_more(ctx);
}

static int read_all(struct ibv_context *ctx)
{
	struct ibv_async_event event;
	int count = 0;

	while (rig_readable(ctx->async_fd, 200) && !ibv_get_async_event(ctx, &event)) {
		ibv_ack_async_event(&event);
		count++;
	}
	return count;
}

/* However many there are, and however long nobody reads. */
static bool unread_events_are_kept(void)
{
	struct shared s = share();
	struct ibv_context *ctx = s.ground.host->ctx;
	int hearers = opened_hear() ? HANDLES : 1, times = MANY / hearers, count;

	for (int i = 2; i < hearers; i++)
		CHECK(ground_open_target(&s.ground, s.xrcd, s.target->qp_num));
	CHECK(raise_on(s.target->qp_num, times));
	count = read_all(ctx);
	if (count != times * hearers)
		printf("%d of %d events came\n", count, times * hearers);
	CHECK(count == times * hearers);
	return true;
}

/* The program would find a pointer in them that is no longer one. */
static bool unread_events_go_with_the_qp(void)
{
	struct shared s = share();

	CHECK(raise_on(s.target->qp_num, 3) && rig_readable(s.ground.host->ctx->async_fd, 1000));
	CHECK(!ibv_destroy_qp(s.target));
	CHECK(read_all(s.ground.host->ctx) == (opened_hear() ? 3 : 0));
	return true;
}

/* Errors of a target QP are told by the adapter alone: what a program does to its state raises nothing. */
static bool a_state_raises_no_event(void)
{
	struct shared s = share();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	CHECK(!ibv_modify_qp(s.target, &attr, IBV_QP_STATE));
	CHECK(!rig_readable(s.ground.host->ctx->async_fd, 50));
	return true;
}

/* A domain is closed for each handle alone: another context that has it, or has a QP in it, does not matter. */
static bool closing_is_each_ones_own(void)
{
	struct ground a = { .host = rig_host(0) }, b = { .host = rig_host(0) };
	int fd = ground_file();
	struct ibv_xrcd *one = ground_domain(&a, fd, O_CREAT), *two = ground_domain(&b, fd, 0);
	struct ibv_qp *target;

	CHECK(one && two);
	target = ground_target(&b, two);
	CHECK(target && !ibv_close_xrcd(one) && ibv_close_xrcd(two) == EBUSY);
	CHECK(!ground_domain(&a, fd, O_CREAT | O_EXCL) && errno == EINVAL);
	CHECK(!ibv_destroy_qp(target) && !ibv_close_xrcd(two));
	return nobody_has(fd);
}

static const struct rig_case cases[] = {
	{ "closing_the_device_frees_the_domain", closing_the_device_frees_the_domain },
	{ "a_dead_process_has_left_nothing", a_dead_process_has_left_nothing },
	{ "who_hears", who_hears },
	{ "who_hears_when_the_creator_has_left", who_hears_when_the_creator_has_left },
	{ "unread_events_are_kept", unread_events_are_kept },
	{ "unread_events_go_with_the_qp", unread_events_go_with_the_qp },
	{ "a_state_raises_no_event", a_state_raises_no_event },
	{ "closing_is_each_ones_own", closing_is_each_ones_own },
};

int main(int argc, char **argv)
{
	return rig_run(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
