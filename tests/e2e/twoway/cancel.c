/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Cancels threads in each of the eight legacy functions, at random moments. Then every function
 * still works, and a registration exists exactly if the call that creates it has succeeded.
 *
 * Cancellation is deferred here. MVAPICH and MVAPICH2 cancel a thread asynchronously, but only in
 * ibv_get_async_event: events_cancel.c.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "end.h"
#include "receiver.h"
#include "../row.h"

#define ROUNDS 20
#define LONGEST_US 3000

/* The objects that the threads use, and those that they have created so far. */
static struct stage {
	struct end end;
	int fd;				/* of the domain that both opened devices share */
	int own_fd;			/* of the domain that the cancelled thread opens */
	uint32_t qp_num;		/* receive QP of this opened device */
	uint32_t others;		/* receive QP that another opened device created */
	volatile uint32_t created;
	struct ibv_xrc_domain *volatile opened;
	struct ibv_srq *volatile srq;
} stage;

static void open_one(void)
{
	stage.opened = ibv_open_xrc_domain(stage.end.context, stage.own_fd, O_CREAT);
	must(stage.opened);
	must_eq(ibv_unreg_xrc_rcv_qp(stage.opened, receive_qp(stage.opened)), 0);
	must_eq(ibv_close_xrc_domain(stage.opened), 0);
	stage.opened = NULL;
}

static void create_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	stage.srq = ibv_create_xrc_srq(stage.end.pd, stage.end.domain, stage.end.cq, &attr);
	must(stage.srq);
	must_eq(ibv_destroy_srq(stage.srq), 0);
	stage.srq = NULL;
}

static void create_one(void)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = stage.end.domain };

	must_eq(ibv_create_xrc_rcv_qp(&init_attr, (uint32_t *)&stage.created), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(stage.end.domain, stage.created), 0);
}

static void modify_one(void)
{
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	const uint32_t numbers[] = { stage.qp_num, stage.others };

	for (int i = 0; i < 2; i++) {
		must_eq(ibv_modify_xrc_rcv_qp(stage.end.domain, numbers[i], &init, MASK_INIT), 0);
		must_eq(ibv_modify_xrc_rcv_qp(stage.end.domain, numbers[i], &reset, IBV_QP_STATE),
			0);
	}
}

static void query_one(void)
{
	must_eq(query_receive_qp(stage.end.domain, stage.qp_num), 0);
	must_eq(query_receive_qp(stage.end.domain, stage.others), 0);
}

static void register_one(void)
{
	must_eq(ibv_reg_xrc_rcv_qp(stage.end.domain, stage.others), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(stage.end.domain, stage.others), 0);
}

static void *work(void *arg)
{
	void (*once)(void) = *(void (**)(void))arg;

	for (;;) {
		once();
		pthread_testcancel();
	}
	return NULL;
}

static void join_cancelled(pthread_t thread)
{
	void *result;

	must(!pthread_join(thread, &result));
	must(result == PTHREAD_CANCELED);
}

static void cancel_at_random(void (*once)(void))
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, work, &once));
	usleep((unsigned)(random() % LONGEST_US));
	must(!pthread_cancel(thread));
	join_cancelled(thread);
	if (stage.created)
		/* EINVAL if the thread has already unregistered */
		ibv_unreg_xrc_rcv_qp(stage.end.domain, stage.created);
	stage.created = 0;
}

/* Calls the functions of receive QPs after the cancellations. */
static void check_functions(void)
{
	query_one();
	modify_one();
	register_one();
	must_eq(ibv_unreg_xrc_rcv_qp(stage.end.domain, stage.qp_num), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(stage.end.domain, stage.qp_num), EINVAL);
}

static void close_stage(void)
{
	if (stage.srq)
		must_eq(ibv_destroy_srq(stage.srq), 0);
	end_close(&stage.end);
}

static void one_round(const struct end *other, void (*once)(void))
{
	stage.srq = NULL;
	stage.others = receive_qp(other->domain);
	end_open(&stage.end, 0, stage.fd, false);
	/*
	 * The first call on an opened device also opens the registration table, so this cancels
	 * that call as well.
	 */
	cancel_at_random(once == modify_one || once == query_one ? register_one : once);
	stage.qp_num = receive_qp(stage.end.domain);
	for (int i = 0; i < 3; i++)
		cancel_at_random(once);
	check_functions();
	close_stage();
	must_eq(ibv_unreg_xrc_rcv_qp(other->domain, stage.others), 0);
}

static void cancel_in(void (*once)(void))
{
	struct end other;

	stage.fd = shared_file();
	stage.own_fd = shared_file();
	end_open(&other, 0, stage.fd, false);
	srandom(20080204);
	for (int i = 0; i < ROUNDS; i++)
		one_round(&other, once);
	end_close(&other);
}

static void life_of_an_xrc_qp(void)
{
	end_create_qp(&stage.end, 1);
	must_eq(end_modify(&stage.end, IBV_QPS_INIT), 0);
	must_eq(end_state(&stage.end), IBV_QPS_INIT);
	must_eq(ibv_destroy_qp(stage.end.qp), 0);
	stage.end.qp = NULL;
}

static bool done;

static void *cancelled_before(void *arg)
{
	void (*once)(void) = *(void (**)(void))arg;

	/*
	 * A cancel is now pending. If once() reached a cancellation point, the thread would end
	 * before it sets done.
	 */
	pthread_cancel(pthread_self());
	once();
	done = true;
	pthread_testcancel();
	return NULL;
}

static void finish_though_cancelled(void (*once)(void))
{
	pthread_t thread;
	struct end other;

	stage.own_fd = shared_file();
	stage.fd = shared_file();
	end_open(&other, 0, stage.fd, false);
	end_open(&stage.end, 0, stage.fd, false);
	stage.others = receive_qp(other.domain);
	stage.qp_num = receive_qp(stage.end.domain);
	done = false;
	must(!pthread_create(&thread, NULL, cancelled_before, &once));
	join_cancelled(thread);
	must(done);
	check_functions();
	close_stage();
	must_eq(ibv_unreg_xrc_rcv_qp(other.domain, stage.others), 0);
	end_close(&other);
}

#define ROWS_OF(what, function) \
	ROW(what ": cancelled before the call") { finish_though_cancelled(function); } \
	ROW(what ": cancelled at cancellation points") { cancel_in(function); }

ROWS_OF("open and close domain", open_one)
ROWS_OF("create SRQ", create_srq)
ROWS_OF("create receive QP", create_one)
ROWS_OF("modify receive QP", modify_one)
ROWS_OF("query receive QP", query_one)
ROWS_OF("reg and unreg", register_one)

ROW("create, modify, query and destroy XRC QP: cancelled before the calls")
{
	finish_though_cancelled(life_of_an_xrc_qp);
}
