/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Old XRC QPs created by rdma_create_qp: their attributes, and the refusals. */

#define GROUP "qp"

#include <string.h>

#include "ids.h"

static struct rdma_cm_id *id, *other;
static struct ibv_pd *pd, *other_pd;
static struct ibv_xrc_domain *domain, *other_domain;

static void set_up(void)
{
	id = ids_resolved();
	other = ids_bound(1, 0);
	pd = ibv_alloc_pd(id->verbs);
	other_pd = ibv_alloc_pd(other->verbs);
	must(pd && other_pd);
	domain = ids_domain(id);
	other_domain = ids_domain(other);
}

/* librdmacm takes the QP to INIT, as it does with its own. */
ROW("an old XRC QP has its type and domain, and is in INIT")
{
	struct ibv_qp_init_attr attr, init;
	struct ibv_qp_attr state;

	set_up();
	attr = ids_xrc_attr(id, domain);
	attr.cap.max_recv_wr = 3;	/* taken as 0, as by ibv_create_qp */
	must_eq(rdma_create_qp(id, pd, &attr), 0);
	must(id->qp && id->qp->context == id->verbs && id->qp->pd == pd);
	must(attr.cap.max_send_wr >= 4 && !attr.cap.max_recv_wr);
	must(attr.qp_type == IBV_QPT_XRC && attr.xrc_domain == domain);
	must_eq(ibv_query_qp(id->qp, &state, IBV_QP_STATE, &init), 0);
	must_eq(state.qp_state, IBV_QPS_INIT);
	must_eq(init.qp_type, IBV_QPT_XRC);
	must(init.xrc_domain == domain);
	must_eq(ibv_close_xrc_domain(domain), EBUSY);
	rdma_destroy_qp(id);
	must(!id->qp);
	must_eq(ibv_close_xrc_domain(domain), 0);
}

/* Some programs left CQs and PD to librdmacm. A sending QP has no use for a receive CQ. */
ROW("a QP without CQs and PD gets the PD and the CQs of librdmacm")
{
	struct ibv_qp_init_attr attr;

	set_up();
	attr = ids_xrc_attr(id, domain);
	attr.send_cq = attr.recv_cq = NULL;
	must_eq(rdma_create_qp(id, NULL, &attr), 0);
	must(id->send_cq && id->qp->send_cq == id->send_cq);
	must(id->qp->pd == id->pd && id->pd->context == id->verbs);
	rdma_destroy_qp(id);
	must(!id->send_cq || ibv_destroy_cq(id->send_cq) == 0);
	must_eq(ibv_close_xrc_domain(domain), 0);
}

/* ---- Refusals: each function makes one argument or attribute invalid ---- */

static void no_domain(struct ibv_qp_init_attr *attr)
{
	attr->xrc_domain = NULL;
}

static void domain_of_another_device(struct ibv_qp_init_attr *attr)
{
	attr->xrc_domain = other_domain;
}

static void closed_domain(struct ibv_qp_init_attr *attr)
{
	attr->xrc_domain = ids_domain(id);
	must_eq(ibv_close_xrc_domain(attr->xrc_domain), 0);
}

static void srq_of_the_domain(struct ibv_qp_init_attr *attr)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	attr->srq = ibv_create_xrc_srq(pd, domain, attr->send_cq, &srq_attr);
	must(attr->srq);
}

static void cq_of_another_device(struct ibv_qp_init_attr *attr)
{
	attr->send_cq = attr->recv_cq = ibv_create_cq(other->verbs, 4, NULL, NULL, 0);
	must(attr->send_cq);
}

static void receive_only(struct ibv_qp_init_attr *attr)
{
	attr->cap.max_send_wr = 0;
}

static void pd_of_another_device(struct ibv_qp_init_attr *attr)
{
	(void)attr;
	pd = other_pd;
}

static void unbound_id(struct ibv_qp_init_attr *attr)
{
	(void)attr;
	must_eq(rdma_create_id(id->channel, &id, NULL, RDMA_PS_TCP), 0);
}

static void second_qp(struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr first = *attr;

	must_eq(rdma_create_qp(id, pd, &first), 0);
}

ROW("rdma_create_qp returns EINVAL for each invalid argument, and keeps id->qp")
{
	static const struct {
		const char *name;
		void (*invalidate)(struct ibv_qp_init_attr *attr);
	} table[] = {
		{ "no domain", no_domain },
		{ "a domain of another device", domain_of_another_device },
		{ "a closed domain", closed_domain },
		{ "an SRQ of the domain", srq_of_the_domain },
		{ "a CQ of another device", cq_of_another_device },
		{ "no room to send", receive_only },
		{ "a PD of another device", pd_of_another_device },
		{ "an id without a device", unbound_id },
		{ "a second QP for the id", second_qp },
	};
	struct ibv_qp_init_attr attr;

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ibv_qp *before;

		set_up();
		attr = ids_xrc_attr(id, domain);
		table[i].invalidate(&attr);
		before = id->qp;
		errno = 0;
		if (rdma_create_qp(id, pd, &attr) != -1 || errno != EINVAL)
			row_fail(__FILE__, __LINE__, "not refused: %s", table[i].name);
		must(id->qp == before);
	}
}

ROW("after a refusal and after a success the next QP has its own attributes only")
{
	struct ibv_qp_init_attr attr, without;

	set_up();
	attr = ids_xrc_attr(id, other_domain);
	must_eq(rdma_create_qp(id, pd, &attr), -1);
	attr = ids_xrc_attr(id, domain);
	attr.qp_type = IBV_QPT_RC;
	must_eq(rdma_create_qp(id, pd, &attr), 0);
	must_eq(id->qp->qp_type, IBV_QPT_RC);
	rdma_destroy_qp(id);
	attr.qp_type = IBV_QPT_XRC;
	attr.xrc_domain = domain;
	must_eq(rdma_create_qp(id, pd, &attr), 0);
	without = attr;			/* ibv_create_qp refuses the same attributes */
	without.xrc_domain = NULL;
	must(!ibv_create_qp(pd, &without) && errno == EINVAL);
}
