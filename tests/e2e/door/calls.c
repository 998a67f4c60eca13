/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The calls, in one process. A second context registers with the receive QP, and the creator
 * unregisters. The last query succeeds only if the second registration keeps the QP.
 */

#include <fcntl.h>
#include <stdio.h>

#define PROGRAM "calls"
#include "../../holds.h"
#include "../../../abi/rc_masks.h"
#include "calls.h"

/* A verb that returns a pointer, and one that returns 0. */
#define MAKE(to, verb, ...) HOLDS(to = verbs->verb(__VA_ARGS__))
#define DO(verb, ...) HOLDS(!verbs->verb(__VA_ARGS__))

static const struct verbs *verbs;
static struct ibv_context *creator, *registrant;	/* of one device */
static struct ibv_xrc_domain *domain, *second;		/* the same, as each of them opened it */

static void open_both(void)
{
	struct ibv_device **list;
	FILE *file = tmpfile();

	MAKE(list, get_device_list, NULL);
	HOLDS(list[0] && file);
	MAKE(creator, open_device, list[0]);
	MAKE(registrant, open_device, list[0]);
	MAKE(domain, open_xrc_domain, creator, fileno(file), O_CREAT);
	MAKE(second, open_xrc_domain, registrant, fileno(file), O_CREAT);
	verbs->free_device_list(list);
	fclose(file);
}

static void life_of_a_receive_qp(void)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = domain };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	uint32_t qp_num;

	DO(create_xrc_rcv_qp, &init_attr, &qp_num);
	DO(modify_xrc_rcv_qp, domain, qp_num, &attr, MASK_INIT);
	DO(reg_xrc_rcv_qp, second, qp_num);
	DO(unreg_xrc_rcv_qp, domain, qp_num);
	DO(query_xrc_rcv_qp, second, qp_num, &attr, IBV_QP_STATE, &init_attr);
	HOLDS(attr.qp_state == IBV_QPS_INIT);
	DO(unreg_xrc_rcv_qp, second, qp_num);
}

static void lives_of_an_srq_and_an_xrc_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr init_attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.qp_type = IBV_QPT_XRC,
		.xrc_domain = domain,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	MAKE(srq, create_xrc_srq, pd, domain, cq, &srq_attr);
	HOLDS(srq->xrc_srq_num != 0);
	MAKE(qp, create_qp, pd, &init_attr);
	DO(modify_qp, qp, &attr, MASK_INIT);
	DO(destroy_qp, qp);
	DO(destroy_srq, srq);
}

void make_calls(const struct verbs *table)
{
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	verbs = table;
	open_both();
	life_of_a_receive_qp();
	MAKE(pd, alloc_pd, creator);
	MAKE(cq, create_cq, creator, 16, NULL, NULL, 0);
	lives_of_an_srq_and_an_xrc_qp(pd, cq);
	DO(destroy_cq, cq);
	DO(dealloc_pd, pd);
	DO(close_xrc_domain, second);
	DO(close_xrc_domain, domain);
	DO(close_device, registrant);
	DO(close_device, creator);
	printf("calls: done\n");
}
