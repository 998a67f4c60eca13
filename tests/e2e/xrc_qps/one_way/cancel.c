/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads with a pending cancel call each of the eight legacy functions: none is cancelled inside,
 * and afterwards every function still works.
 *
 * Cancellation is deferred here. MVAPICH and MVAPICH2 cancel a thread asynchronously, but only in
 * ibv_get_async_event: events.c.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "receiver.h"

static struct side fresh;	/* has the domain of self, and no receive QP */
static int another_fd;		/* of the file of another domain */

static void open_domain(void)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(fresh.context, another_fd, O_CREAT);

	must(domain);
	end_receive_qp(domain, receive_qp(domain));
	must_eq(ibv_close_xrc_domain(domain), 0);
}

static void create_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_xrc_srq(fresh.pd, fresh.domain, fresh.cq, &attr);

	must(srq);
	must_eq(ibv_destroy_srq(srq), 0);
}

static void create_receive_qp(void)
{
	end_receive_qp(fresh.domain, receive_qp(fresh.domain));
}

static void modify(uint32_t qp_num)
{
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	must_eq(ibv_modify_xrc_rcv_qp(fresh.domain, qp_num, &init, MASK_INIT), 0);
	must_eq(ibv_modify_xrc_rcv_qp(fresh.domain, qp_num, &reset, IBV_QP_STATE), 0);
}

/* A receive QP that another opened device created, and one of its own. */
static void modify_receive_qps(void)
{
	uint32_t own;

	modify(rcv_qp_num);
	own = receive_qp(fresh.domain);
	modify(own);
	end_receive_qp(fresh.domain, own);
}

static void query_receive_qps(void)
{
	uint32_t own;

	must_eq(query_receive_qp(fresh.domain, rcv_qp_num), 0);
	own = receive_qp(fresh.domain);
	must_eq(query_receive_qp(fresh.domain, own), 0);
	end_receive_qp(fresh.domain, own);
}

static void register_receive_qp(void)
{
	must_eq(ibv_reg_xrc_rcv_qp(fresh.domain, rcv_qp_num), 0);
	end_receive_qp(fresh.domain, rcv_qp_num);
}

static void life_of_an_xrc_qp(void)
{
	side_create_qp(&fresh, 1);
	must_eq(side_modify(&fresh, IBV_QPS_INIT), 0);
	must_eq(side_state(&fresh), IBV_QPS_INIT);
	side_destroy_qp(&fresh);
}

static bool done;

static void *cancelled_before(void *arg)
{
	void (*call)(void) = *(void (**)(void))arg;

	/* If call() reached a cancellation point, the thread would end before it sets done. */
	pthread_cancel(pthread_self());
	call();
	done = true;
	pthread_testcancel();
	return NULL;
}

static void check_functions(void)
{
	query_receive_qps();
	modify_receive_qps();
	register_receive_qp();
	must_eq(ibv_unreg_xrc_rcv_qp(fresh.domain, rcv_qp_num), EINVAL);
}

static void finish_though_cancelled(void (*call)(void))
{
	another_fd = shared_file();
	side_open(&fresh, 0, domain_fd, false);
	must(join_thread(start_thread(cancelled_before, &call)) == PTHREAD_CANCELED && done);
	check_functions();
	side_close(&fresh);
}

#define ROW_OF(what, function) \
	ROW(what ": cancelled before the call") { finish_though_cancelled(function); }

ROW_OF("open and close domain", open_domain)
ROW_OF("create SRQ", create_srq)
ROW_OF("create receive QP", create_receive_qp)
ROW_OF("modify receive QP", modify_receive_qps)
ROW_OF("query receive QP", query_receive_qps)
ROW_OF("reg and unreg", register_receive_qp)
ROW_OF("create, modify, query and destroy XRC QP", life_of_an_xrc_qp)
