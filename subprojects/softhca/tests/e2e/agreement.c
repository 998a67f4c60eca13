/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The kernel's behaviour apart from refusals: when objects end, which handles get which events, and
 * in which order. The same program runs on the emulated HCA and on a real kernel.
 *
 * AGREEMENT_RAISE is a shell command that raises an event on the first device. Its arguments are
 * the kind of object (qp, srq), its number, the event by name and by number, and how often.
 * AGREEMENT_OPENED says whether handles from ibv_open_qp hear events: "hear" or "deaf".
 */
#include <harness/emulated.h>
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS  60
#define HANDLES 64
#define MANY	5000	/* events: more than a pipe holds */

static void raise_event(const char *kind, uint32_t number, enum ibv_event_type type, int times)
{
	static const char *const names[] = {
		[IBV_EVENT_QP_FATAL] = "qp_fatal",
		[IBV_EVENT_QP_REQ_ERR] = "qp_req_err",
		[IBV_EVENT_QP_ACCESS_ERR] = "qp_access_err",
		[IBV_EVENT_COMM_EST] = "comm_est",
		[IBV_EVENT_PATH_MIG] = "path_mig",
		[IBV_EVENT_SRQ_LIMIT_REACHED] = "srq_limit_reached",
		[IBV_EVENT_QP_LAST_WQE_REACHED] = "last_wqe_reached",
	};
	char command[512];

	snprintf(command, sizeof(command), "%s %s %u %s %d %d", getenv("AGREEMENT_RAISE"), kind,
		 number, names[type], type, times);
	must(!system(command));
}

static void raise_on(uint32_t qpn, int times)
{
	raise_event("qp", qpn, IBV_EVENT_COMM_EST, times);
}

static bool opened_hear(void)
{
	const char *word = getenv("AGREEMENT_OPENED");

	return !word || strcmp(word, "deaf") != 0;
}

/* No process has the domain open: creating it with O_EXCL would fail. */
static void domain_must_be_free(struct host *host, int fd)
{
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, fd, O_CREAT | O_EXCL));

	must_eq(ibv_close_xrcd(xrcd), 0);
}

/*
 * When ibv_close_device() returns, what the program left open has ended. The next command of
 * another context finds the domain free.
 */
ROW("closing the device frees the domain")
{
	struct host *other = rig_host(0);
	int fd = xrc_file();

	for (int round = 0; round < ROUNDS; round++) {
		struct host *host = rig_host(0);
		struct ibv_xrcd *xrcd = MADE(xrc_domain(host, fd, O_CREAT));

		MADE(xrc_target(host, xrcd));
		MADE(xrc_srq(host, xrcd, 4, 1));
		errno = EDOM;
		must_eq(ibv_close_device(host->ctx), 0);
		must_eq(errno, EDOM);
		domain_must_be_free(other, fd);
	}
}

/* When waitpid() returns, the target and the domain of the dead process have ended. */
ROW("the domain of a dead process is free")
{
	struct host *host = rig_host(0);
	int fd = xrc_file();

	for (int round = 0; round < ROUNDS; round++) {
		pid_t child = fork();

		must(child >= 0);
		if (!child) {
			struct host *own = rig_host(0);

			MADE(xrc_target(own, MADE(xrc_domain(own, fd, O_CREAT))));
			if (round & 1)
				raise(SIGKILL);
			_exit(0);
		}
		must_end(child, round & 1 ? SIGKILL : 0);
		domain_must_be_free(host, fd);
	}
}

/* A target in a private domain, and a second handle of it. */
struct shared {
	struct host *host;
	struct ibv_xrcd *xrcd;
	struct ibv_qp *target, *opened;
};

static struct shared share(void)
{
	struct shared s = { .host = rig_host(0) };

	s.xrcd = MADE(xrc_domain(s.host, -1, O_CREAT));
	s.target = MADE(xrc_target(s.host, s.xrcd));
	s.opened = MADE(xrc_open(s.host, s.xrcd, s.target->qp_num));
	return s;
}

ROW("opened handle outlives the creator")
{
	struct shared s = share();
	uint32_t qpn = s.target->qp_num;

	must_eq(ibv_destroy_qp(s.target), 0);
	raise_on(qpn, 1);
	if (opened_hear())
		rig_must_hear(s.host, IBV_EVENT_COMM_EST, s.opened);
	must_eq(rig_state(s.opened), IBV_QPS_RESET);
	rig_must_hear_nothing(s.host->ctx, 50);
}

/* Waits for @expected events, then for a moment for one more. */
static int read_all(struct ibv_context *ctx, int expected)
{
	struct ibv_async_event event;
	int count = 0;

	while (rig_readable(ctx->async_fd, count < expected ? RIG_PATIENCE_MS : 200) &&
	       !ibv_get_async_event(ctx, &event)) {
		ibv_ack_async_event(&event);
		count++;
	}
	return count;
}

/* Events that nothing reads are kept, also if they are more than a pipe holds. */
ROW("unread events are kept")
{
	struct shared s = share();
	int hearers = opened_hear() ? HANDLES : 1, times = MANY / hearers, count;

	for (int i = 2; i < hearers; i++)
		MADE(xrc_open(s.host, s.xrcd, s.target->qp_num));
	raise_on(s.target->qp_num, times);
	count = read_all(s.host->ctx, times * hearers);
	printf("%d of %d events came\n", count, times * hearers);
	must_eq(count, times * hearers);
}

/* Destroying a handle drops its unread events, because they point to the handle. */
ROW("destroying a QP drops its unread events")
{
	const int expected = opened_hear() ? 3 : 0;
	struct shared s = share();

	raise_on(s.target->qp_num, 3);
	must(rig_readable(s.host->ctx->async_fd, RIG_PATIENCE_MS));
	must_eq(ibv_destroy_qp(s.target), 0);
	must_eq(read_all(s.host->ctx, expected), expected);
}

/*
 * The events come in the order of raising, first at the handle that was opened last. None is left
 * out or merged with another. An event that reports a failure changes no state.
 */
ROW("events keep their order")
{
	static const enum ibv_event_type types[] = {
		IBV_EVENT_COMM_EST, IBV_EVENT_QP_FATAL, IBV_EVENT_PATH_MIG, IBV_EVENT_QP_FATAL,
		IBV_EVENT_QP_ACCESS_ERR, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_LAST_WQE_REACHED,
		IBV_EVENT_COMM_EST,
	};
	const size_t count = sizeof(types) / sizeof(types[0]);
	struct shared s = share();

	for (size_t i = 0; i < count; i++)
		raise_event("qp", s.target->qp_num, types[i], 1);
	for (size_t i = 0; i < count; i++) {
		if (opened_hear())
			rig_must_hear(s.host, types[i], s.opened);
		rig_must_hear(s.host, types[i], s.target);
	}
	must_eq(rig_state(s.opened), IBV_QPS_RESET);
	rig_must_hear_nothing(s.host->ctx, 50);
}

/*
 * Only the adapter raises a target QP's events. A program raises none when it changes the state or
 * destroys the handles of a target, and the last one ends the target.
 */
ROW("state changes and destroys raise no event")
{
	struct shared s = share();
	struct rig_link link = rig_link_to(1, s.host->lid);
	uint32_t qpn = s.target->qp_num;

	must_eq(rig_bring_up(s.target, &link), 0);
	must_eq(rig_state(s.target), IBV_QPS_RTR);
	must_eq(rig_to_state(s.target, IBV_QPS_RESET), 0);
	rig_must_hear_nothing(s.host->ctx, 50);
	must_eq(ibv_destroy_qp(s.target), 0);
	rig_must_hear_nothing(s.host->ctx, 50);
	must_eq(emulated_destroy_opened(s.opened), 0);
	rig_must_hear_nothing(s.host->ctx, 50);
	must(!xrc_open(s.host, s.xrcd, qpn));
	must_eq(errno, EINVAL);
	must_eq(ibv_close_xrcd(s.xrcd), 0);
}

/* One opened device is closed. The QP lives until the other opened device destroys its handle. */
ROW("a closed device keeps the QP of another handle")
{
	struct host *a = rig_host(0), *b = rig_host(0);
	int fd = xrc_file();
	struct ibv_xrcd *one = MADE(xrc_domain(a, fd, O_CREAT)), *two = MADE(xrc_domain(b, fd, 0));
	struct ibv_qp *target = MADE(xrc_target(a, one));
	uint32_t qpn = target->qp_num;
	struct ibv_qp *opened = MADE(xrc_open(b, two, qpn));

	must_eq(ibv_close_device(a->ctx), 0);
	must_eq(ibv_close_xrcd(two), EBUSY);
	must_eq(emulated_destroy_opened(opened), 0);
	must(!xrc_open(b, two, qpn));
	must_eq(errno, EINVAL);
	must_eq(ibv_close_xrcd(two), 0);
	domain_must_be_free(b, fd);
}

/* The QP or SRQ that a thread destroys, and whether it has done so. */
struct ending {
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	bool done;
};

static void *end(void *argument)
{
	struct ending *ending = argument;

	must_eq(ending->qp ? ibv_destroy_qp(ending->qp) : ibv_destroy_srq(ending->srq), 0);
	__atomic_store_n(&ending->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Two of three events are read. The destroy ends with the second acknowledgement, not before. */
static void destroy_must_count_what_was_read(struct ending *ending, struct ibv_context *ctx)
{
	struct ibv_async_event first = rig_must_get_event(ctx), second = rig_must_get_event(ctx);
	pthread_t thread;

	must_eq(pthread_create(&thread, NULL, end, ending), 0);
	ibv_ack_async_event(&first);
	usleep(200000);
	must(!__atomic_load_n(&ending->done, __ATOMIC_ACQUIRE));
	ibv_ack_async_event(&second);
	must_eq(pthread_join(thread, NULL), 0);
	rig_must_hear_nothing(ctx, 50);
}

/*
 * A destroy command reports how many events were read, and the library waits until as many are
 * acknowledged.
 */
ROW("destroying an object reports its events")
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	struct ending qp = { .qp = MADE(xrc_target(host, xrcd)) },
		      srq = { .srq = MADE(xrc_srq(host, xrcd, 8, 1)) };
	uint32_t srqn = xrc_srq_number(srq.srq);

	raise_on(qp.qp->qp_num, 3);
	destroy_must_count_what_was_read(&qp, host->ctx);
	raise_event("srq", srqn, IBV_EVENT_SRQ_LIMIT_REACHED, 3);
	destroy_must_count_what_was_read(&srq, host->ctx);
}

/*
 * Each context closes its own handle of a domain, also while another context has objects there. A
 * sender is none of these.
 */
ROW("each context closes its own domain handle")
{
	struct host *a = rig_host(0), *b = rig_host(0);
	int fd = xrc_file();
	struct ibv_xrcd *one = MADE(xrc_domain(a, fd, O_CREAT)), *two = MADE(xrc_domain(b, fd, 0));
	struct ibv_srq *srq = MADE(xrc_srq(b, two, 8, 1));

	rig_qp(b, IBV_QPT_XRC_SEND, NULL);
	must_eq(ibv_close_xrcd(one), 0);
	must_eq(ibv_close_xrcd(two), EBUSY);
	must(!xrc_domain(a, fd, O_CREAT | O_EXCL));
	must_eq(errno, EINVAL);
	must_eq(ibv_destroy_srq(srq), 0);
	must_eq(ibv_close_xrcd(two), 0);
	domain_must_be_free(a, fd);
}

/*
 * A query returns each value cut to the width of the adapter's field. Without responder resources
 * it returns no right to remote reads and atomics.
 */
ROW("attributes are read back cut to their fields")
{
	struct host *host = rig_host(0);
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	struct rig_link link = rig_link_to(qp->qp_num, host->lid);
	struct ibv_qp_attr attr, rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 3, .min_rnr_timer = 40,
		.ah_attr = { .dlid = host->lid, .port_num = 1, .sl = 19, .src_path_bits = 200 },
		.alt_ah_attr = { .dlid = host->lid, .port_num = 1, .sl = 18, .src_path_bits = 201 },
		.alt_port_num = 1,
	}, rts = { .qp_state = IBV_QPS_RTS, .timeout = 33, .retry_cnt = 9, .rnr_retry = 1 };

	must_eq(rig_init(qp, &link), 0);
	must_eq(rig_attr(qp).qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	must_eq(ibv_modify_qp(qp, &rtr, MASK_RTR | IBV_QP_ALT_PATH), 0);
	must_eq(ibv_modify_qp(qp, &rts, MASK_RTS), 0);
	attr = rig_attr(qp);
	must_eq(attr.max_dest_rd_atomic, 4);
	must_eq(attr.max_rd_atomic, 1);
	must_eq(attr.min_rnr_timer, 8);
	must_eq(attr.ah_attr.sl, 3);
	must_eq(attr.ah_attr.src_path_bits, 72);
	must_eq(attr.alt_ah_attr.sl, 2);
	must_eq(attr.alt_ah_attr.src_path_bits, 73);
	must_eq(attr.timeout, 1);
	must_eq(attr.retry_cnt, 1);
	must_eq(attr.rnr_retry, 1);
	must_eq(attr.qp_access_flags, (unsigned int)link.access);
}
