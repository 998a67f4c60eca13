/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program whose references to libibverbs have no version, like those of a plugin that was not
 * linked with libibverbs. The loader binds them to the functions of IBVERBS_1.0. The program calls
 * those verbs that the shim defines in another node. ibv_open_xrc_domain is not to be found.
 */

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <infiniband/verbs.h>

#define PROGRAM "unversioned"
#include "../../../holds.h"

#pragma weak ibv_open_xrc_domain

static void on_srq(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = { .srq_limit = 1 };

	HOLDS(!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	HOLDS(!ibv_query_srq(srq, &attr) && attr.srq_limit == 1);
}

static void on_qp(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_init_attr init_attr;

	HOLDS(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	HOLDS(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init_attr) && attr.qp_state == IBV_QPS_INIT);
}

static void interrupt(int number)
{
	(void)number;
}

/*
 * There is no event, so the timer ends the wait. It repeats, in case it fires before the wait
 * begins.
 */
static void events(struct ibv_context *context)
{
	const struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
	const struct sigaction action = { .sa_handler = interrupt };
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ERR, .element.port_num = 1 };

	HOLDS(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &every, NULL));
	HOLDS(ibv_get_async_event(context, &event) == -1 && errno == EINTR);
	ibv_ack_async_event(&event);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = context ? ibv_create_cq(context, 4, NULL, NULL, 0) : NULL;
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = pd ? ibv_create_srq(pd, &srq_attr) : NULL;
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .srq = srq,
					 .qp_type = IBV_QPT_RC,
					 .cap = { .max_send_wr = 4, .max_send_sge = 1 } };
	struct ibv_qp *qp = srq && cq ? ibv_create_qp(pd, &attr) : NULL;

	HOLDS(qp != NULL);
	on_srq(srq);
	on_qp(qp);
	HOLDS(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq));
	events(context);
	HOLDS(!ibv_close_device(context));
	HOLDS(!ibv_open_xrc_domain);
	puts("unversioned: done");
	return 0;
}
