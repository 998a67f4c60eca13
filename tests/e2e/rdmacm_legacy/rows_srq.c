/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Old SRQs given to librdmacm, and SRQs of librdmacm in an old domain. */

#define GROUP "srq"

#include <string.h>

#include "ids.h"
#include "today.h"

static struct rdma_cm_id *id, *listener, *srq_id;
static struct ibv_xrc_domain *send_domain, *domain;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static char sent[TODAY_LENGTH], received[TODAY_LENGTH];
static uint32_t rcv_qpn;

/* A sender on device 0, a receive QP of a domain of device 1, connected by rdma_cm. */
static void set_up(void)
{
	struct ibv_qp_init_attr attr;

	id = ids_resolved();
	listener = ids_bound(1, PORT);
	must_eq(rdma_listen(listener, 1), 0);
	pd = ibv_alloc_pd(id->verbs);
	must(pd);
	mr = ibv_reg_mr(pd, sent, TODAY_LENGTH, 0);
	must(mr);
	send_domain = ids_domain(id);
	domain = ids_domain(listener);
	attr = ids_xrc_attr(id, send_domain);
	must_eq(rdma_create_qp(id, pd, &attr), 0);
	rcv_qpn = ids_connect(id, listener, domain);
	srq_id = ids_bound(1, 0);
	must(srq_id->verbs == listener->verbs);
}

static void send_to(uint32_t srq_num)
{
	struct ibv_sge sge = { (uintptr_t)sent, TODAY_LENGTH, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	strcpy(sent, "to the SRQ of an id");
	memset(received, 0, sizeof(received));
	wr.xrc_remote_srq_num = srq_num;
	must_eq(ibv_post_send(id->qp, &wr, &bad), 0);
}

/* rdma_create_srq_ex with the XRCD of an old domain; CQ and channel are librdmacm's. */
ROW("librdmacm's SRQ in an old domain receives from an old QP")
{
	uint32_t srq_num = 0, from = 0;

	set_up();
	must_eq(today_create_srq(srq_id, domain, &srq_num), 0);
	for (int i = 0; i < 3; i++) {
		must_eq(today_post_recv(srq_id, received), 0);
		send_to(srq_num);
		must_eq(today_get_recv(srq_id, &from), 0);
		must_eq(from, rcv_qpn);
		must(!strcmp(sent, received));
	}
	must(srq_id->recv_cq_channel && srq_id->recv_cq);
	must_eq(ibv_unreg_xrc_rcv_qp(domain, rcv_qpn), 0);
	must_eq(ibv_close_xrc_domain(domain), EBUSY);
	today_destroy_srq(srq_id);
	must_eq(ibv_close_xrc_domain(domain), 0);
}

static struct ibv_srq *old_srq(struct ibv_cq **cq)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq;

	srq_id->pd = ibv_alloc_pd(srq_id->verbs);
	*cq = ibv_create_cq(srq_id->verbs, 4, NULL, NULL, 0);
	must(srq_id->pd && *cq);
	srq = ibv_create_xrc_srq(srq_id->pd, domain, *cq, &attr);
	must(srq);
	return srq;
}

/* rdma_post_recv and rdma_destroy_srq use id->srq. */
ROW("an old SRQ as the id's SRQ receives, and rdma_destroy_srq destroys it")
{
	struct ibv_cq *cq;

	set_up();
	srq_id->srq = old_srq(&cq);
	must_eq(today_post_recv(srq_id, received), 0);
	send_to(srq_id->srq->xrc_srq_num);
	must_eq(ids_completion(cq).qp_num, rcv_qpn);
	must(!strcmp(sent, received));
	must_eq(ibv_destroy_cq(cq), EBUSY);
	today_destroy_srq(srq_id);
	must(!srq_id->srq);
	must_eq(ibv_destroy_cq(cq), 0);
}

/* The kernel refuses an XRC SRQ for an RC QP. */
ROW("rdma_create_qp refuses an old SRQ for an RC QP with EINVAL")
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
					 .cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct ibv_srq *srq;
	struct ibv_cq *cq;

	set_up();
	srq = old_srq(&cq);
	attr.srq = srq;
	attr.send_cq = attr.recv_cq = cq;
	errno = 0;
	must_eq(rdma_create_qp(srq_id, srq_id->pd, &attr), -1);
	must_eq(errno, EINVAL);
	must(attr.srq == srq);
	srq_id->srq = srq;	/* librdmacm takes it if the attributes have none */
	attr.srq = NULL;
	errno = 0;
	must_eq(rdma_create_qp(srq_id, srq_id->pd, &attr), -1);
	must_eq(errno, EINVAL);
	must_eq(ibv_destroy_srq(srq), 0);
}

/* The QP's type is in the address information. */
ROW("rdma_create_ep refuses an old SRQ and an old XRC QP with EINVAL")
{
	static const struct {
		int type;
		bool srq;
	} table[] = { { IBV_QPT_RC, true }, { IBV_QPT_XRC, false }, { IBV_QPT_XRC, true } };
	struct rdma_cm_id *made;
	struct ibv_srq *srq;
	struct ibv_cq *cq;

	set_up();
	srq = old_srq(&cq);
	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ibv_qp_init_attr attr = ids_xrc_attr(srq_id, domain);

		attr.srq = table[i].srq ? srq : NULL;
		errno = 0;
		must_eq(rdma_create_ep(&made, ids_addrinfo(table[i].type), srq_id->pd, &attr), -1);
		must_eq(errno, EINVAL);
		must(attr.srq == (table[i].srq ? srq : NULL) && attr.xrc_domain == domain);
	}
	must_eq(ibv_destroy_srq(srq), 0);
}

/* For this QP librdmacm calls the provider, and not a function that the shim exports. */
ROW("rdma_create_qp_ex passes the provider's SRQ to the provider, not the image")
{
	struct ibv_srq *srq;
	struct ibv_cq *cq;

	set_up();
	srq = old_srq(&cq);
	must_eq(today_create_target_qp(srq_id, domain, srq), 0);
	must_eq(ibv_destroy_srq(srq), 0);
}
