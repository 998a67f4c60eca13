/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The device reports the limits that are set for it, and refuses the first object beyond each. */
#include <tests/rc_masks.h>
#include "rig.h"

#include <errno.h>

/* As test_softhca_verbs.py sets them. The objects of the host count, too. */
enum { QPS = 3, CQS = 3, SRQS = 2, MRS = 3, PDS = 2, QP_WR = 20, SGE = 4, CQE = 127 };
enum { SRQ_WR = 31, SRQ_SGE = 3, READS = 4, INIT_READS = 8 };

static struct host *host;

CASE(the_device_reports_its_limits)
{
	struct ibv_device_attr attr;

	CHECK(!ibv_query_device(host->ctx, &attr));
	CHECK(attr.max_qp == QPS && attr.max_cq == CQS && attr.max_srq == SRQS &&
	      attr.max_mr == MRS && attr.max_pd == PDS);
	CHECK(attr.max_qp_wr == QP_WR && attr.max_sge == SGE && attr.max_cqe == CQE &&
	      attr.max_srq_wr == SRQ_WR);
	CHECK(attr.max_srq_sge == SRQ_SGE && attr.max_qp_rd_atom == READS &&
	      attr.max_qp_init_rd_atom == INIT_READS);
	return true;
}

static struct ibv_qp *make_qp(uint32_t send_wr, uint32_t recv_wr, uint32_t send_sge,
			      uint32_t recv_sge)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = host->cq, .recv_cq = host->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = send_wr, .max_recv_wr = recv_wr, .max_send_sge = send_sge,
			 .max_recv_sge = recv_sge },
	};

	return ibv_create_qp(host->pd, &attr);
}

CASE(a_qp_too_many_or_with_too_long_queues_is_refused)
{
	struct ibv_qp *qp[QPS] = { make_qp(QP_WR, QP_WR, SGE, SGE) };

	CHECK(!make_qp(QP_WR + 1, 1, 1, 1) && !make_qp(1, QP_WR + 1, 1, 1));
	CHECK(!make_qp(1, 1, SGE + 1, 1) && !make_qp(1, 1, 1, SGE + 1));
	for (int i = 1; i < QPS; i++)
		qp[i] = make_qp(1, 1, 1, 1);
	CHECK(!make_qp(1, 1, 1, 1) && errno == ENOMEM);
	for (int i = 0; i < QPS; i++)
		CHECK(qp[i] && !ibv_destroy_qp(qp[i]));
	return true;
}

CASE(one_cq_too_many_is_ENOMEM)
{
	struct ibv_cq *one = MADE(ibv_create_cq(host->ctx, CQE, NULL, NULL, 0)),
		      *two = MADE(ibv_create_cq(host->ctx, CQE, NULL, NULL, 0));

	CHECK(!ibv_create_cq(host->ctx, 1, NULL, NULL, 0) && errno == ENOMEM);
	CHECK(!ibv_destroy_cq(one));
	CHECK(!ibv_create_cq(host->ctx, CQE + 1, NULL, NULL, 0) && errno == EINVAL);
	return ibv_resize_cq(two, CQE + 1) && !ibv_destroy_cq(two);
}

static struct ibv_srq *make_srq(uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = wr, .max_sge = sge } };

	return ibv_create_srq(host->pd, &attr);
}

CASE(one_srq_too_many_is_ENOMEM)
{
	struct ibv_srq *one = make_srq(SRQ_WR, SRQ_SGE), *two = make_srq(1, 1);

	CHECK(one && two);
	CHECK(!make_srq(1, 1) && errno == ENOMEM);
	CHECK(!ibv_destroy_srq(one));
	CHECK(!make_srq(SRQ_WR + 1, 1) && errno == EINVAL && !make_srq(1, SRQ_SGE + 1) &&
	      errno == EINVAL);
	return !ibv_destroy_srq(two);
}

CASE(one_region_or_pd_too_many_is_ENOMEM)
{
	struct ibv_mr *one = ibv_reg_mr(host->pd, host->buffer, 10, 0),
		      *two = ibv_reg_mr(host->pd, host->buffer, 10, 0);
	struct ibv_pd *pd = ibv_alloc_pd(host->ctx);

	CHECK(one && two && !ibv_reg_mr(host->pd, host->buffer, 10, 0) && errno == ENOMEM);
	CHECK(pd && !ibv_alloc_pd(host->ctx) && errno == ENOMEM);
	return !ibv_dereg_mr(one) && !ibv_dereg_mr(two) && !ibv_dealloc_pd(pd);
}

CASE(too_many_responder_resources_are_EINVAL)
{
	struct ibv_qp *qp = make_qp(1, 1, 1, 1);
	struct rig_link link = rig_link_to(1, host->lid);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .max_rd_atomic = INIT_READS + 1 };

	link.max_dest_rd_atomic = READS + 1;
	CHECK(qp && !rig_init(qp, &link) && rig_rtr(qp, &link) == EINVAL);
	link.max_dest_rd_atomic = READS;
	CHECK(!rig_rtr(qp, &link) && ibv_modify_qp(qp, &attr, MASK_RTS) == EINVAL);
	attr.max_rd_atomic = INIT_READS;
	return !ibv_modify_qp(qp, &attr, MASK_RTS) && !ibv_destroy_qp(qp);
}

int main(int argc, char **argv)
{
	host = rig_host(0);
	return rig_run(argc, argv);
}
