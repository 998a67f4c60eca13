/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Failed operations: the status and vendor error at each side, and the state of each QP. Some cases
 * show the nearest operation that succeeds.
 */
#include <tests/e2e/emulated.h>
#include <softhca/tests/e2e/pair.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ALLOWED (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* The vendor errors that real adapters report with the status, taken from logs of programs. */
static uint32_t vendor_err(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_LOC_LEN_ERR:
		return 0x69;
	case IBV_WC_LOC_PROT_ERR:
		return 0x51;
	case IBV_WC_WR_FLUSH_ERR:
		return emulated_is_mlx5() ? 0xf9 : 0xf4;
	case IBV_WC_REM_INV_REQ_ERR:
		return 0x8a;
	case IBV_WC_REM_ACCESS_ERR:
		return 0x88;
	case IBV_WC_REM_OP_ERR:
		return 0x89;
	case IBV_WC_RETRY_EXC_ERR:
		return 0x81;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return 0x87;
	default:
		return 0;
	}
}

/* The sender's completion has @status, and the sender is in ERR. */
static bool fails(struct pair *pair, struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	CHECK(!rig_post(pair->qa, wr));
	CHECK(rig_poll(pair->a->cq, &wc));
	CHECK(wc.status == status && wc.vendor_err == vendor_err(status));
	CHECK(wc.wr_id == wr->wr_id && rig_state(pair->qa) == IBV_QPS_ERR);
	return true;
}

CASE(an_unconnected_peer_does_not_answer)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);

	CHECK(!rig_to_state(pair.qb, IBV_QPS_RESET));
	CHECK(fails(&pair, &wr, IBV_WC_RETRY_EXC_ERR));
	return pair_tear_down(&pair);
}

CASE(a_request_waits_for_a_late_peer)
{
	struct pair p = pair_apart(IBV_QPT_RC);
	struct rig_link to_b = rig_link_to(p.qb->qp_num, p.b->lid),
			to_a = rig_link_to(p.qa->qp_num, p.a->lid);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(p.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	to_b.timeout = 22; /* 17 seconds */
	CHECK(!rig_bring_up(p.qa, &to_b));
	CHECK(!rig_post(p.qa, &wr));
	CHECK(!rig_init(p.qb, &to_a) && !rig_post_recv(p.b, p.qb, 0, 10, 1));
	CHECK(rig_quiet(p.a->cq, 20));
	CHECK(!rig_rtr(p.qb, &to_a));
	/* The request succeeds once the peer is in RTR, not only after the timeout of 17 s. */
	CHECK(rig_poll_within(p.a->cq, &wc, 10000) && wc.status == IBV_WC_SUCCESS);
	CHECK(rig_poll_success(p.b->cq, &wc));
	return pair_tear_down(&p);
}

CASE(an_ack_goes_to_the_connected_qp)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_qp *third = rig_qp(pair.a, IBV_QPT_RC, NULL);
	struct rig_link link = rig_link_to(pair.qb->qp_num, pair.b->lid);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);

	/* qb is connected to qa and sends its ACK there. The third QP gets none. */
	CHECK(!rig_bring_up(third, &link));
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1));
	CHECK(rig_send(third, &wr, IBV_WC_RETRY_EXC_ERR));
	CHECK(!ibv_destroy_qp(third));
	return pair_tear_down(&pair);
}

CASE(a_request_with_a_wrong_psn_is_not_answered)
{
	struct rig_link link_a = rig_link_to(0, 0), link_b = link_a;
	struct pair pair;

	link_b.psn++;
	pair = pair_unlike(link_a, link_b);
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 10, 1));
	CHECK(pair_send(&pair, 10, IBV_WC_RETRY_EXC_ERR));
	CHECK(rig_quiet(pair.b->cq, 5));
	return pair_tear_down(&pair);
}

CASE(a_send_without_a_receive_ends_with_RNR_RETRY_EXC_ERR)
{
	struct rig_link link = rig_link_to(0, 0);
	struct pair pair;
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	link.rnr_retry = 2;
	pair = pair_up(IBV_QPT_RC, &link);
	wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	CHECK(fails(&pair, &wr, IBV_WC_RNR_RETRY_EXC_ERR));
	return pair_tear_down(&pair);
}

CASE(a_message_longer_than_its_receive_fails_at_both_ends)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 101);
	struct ibv_wc wc;

	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 4));
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 5));
	CHECK(fails(&pair, &wr, IBV_WC_REM_INV_REQ_ERR));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_LOC_LEN_ERR && wc.wr_id == 4);
	CHECK(wc.vendor_err == vendor_err(IBV_WC_LOC_LEN_ERR));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 5);
	CHECK(wc.vendor_err == vendor_err(IBV_WC_WR_FLUSH_ERR));
	CHECK(rig_state(pair.qb) == IBV_QPS_ERR);
	return pair_tear_down(&pair);
}

CASE(posted_in_error_is_flushed)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	CHECK(!rig_to_state(pair.qa, IBV_QPS_ERR));
	wr.send_flags = 0; /* a flushed request completes even if it is unsignaled */
	CHECK(rig_send(pair.qa, &wr, IBV_WC_WR_FLUSH_ERR));
	CHECK(!rig_post_recv(pair.a, pair.qa, 0, 10, 3));
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 3);
	return pair_tear_down(&pair);
}

CASE(a_local_key_of_another_pd_is_refused)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_pd *pd = MADE(ibv_alloc_pd(pair.a->ctx));
	struct ibv_mr *mr = MADE(ibv_reg_mr(pd, pair.a->buffer, 4096, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);

	sge.lkey = mr->lkey;
	CHECK(fails(&pair, &wr, IBV_WC_LOC_PROT_ERR));
	CHECK(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
	return pair_tear_down(&pair);
}

CASE(a_receive_key_of_no_region_fails_at_both_ends)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge,
		to = { (uint64_t)(uintptr_t)pair.b->buffer, 100, pair.b->mr->lkey ^ 0x80 };
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	CHECK(!rig_post_sge(pair.qb, NULL, to, 6));
	CHECK(fails(&pair, &wr, IBV_WC_REM_OP_ERR));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_LOC_PROT_ERR && wc.wr_id == 6);
	return pair_tear_down(&pair);
}

static bool fails_at_both(struct pair *pair, struct ibv_send_wr *wr, enum ibv_wc_status status,
			  enum ibv_event_type type)
{
	CHECK(fails(pair, wr, status) && rig_state(pair->qb) == IBV_QPS_ERR);
	return rig_event_is(pair->b, type, pair->qb);
}

/* Requests with one mistake each, and the completion status of each. */
static const struct mistake {
	const char *what;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	size_t local, remote; /* offsets in the buffers */
	uint32_t lkey, rkey;  /* added to the valid keys */
	int access, reads;    /* what the responder's QP allows */
	enum ibv_wc_status status;
	enum ibv_event_type event; /* at the responder; 0 = none */
} mistakes[] = {
	{ "local key", IBV_WR_SEND, 10, 0, 0, 1, 0, ALLOWED, 4, IBV_WC_LOC_PROT_ERR },
	{ "local range", IBV_WR_SEND, 11, RIG_BUFFER - 10, 0, 0, 0, ALLOWED, 4,
	  IBV_WC_LOC_PROT_ERR },
	{ "remote key", IBV_WR_RDMA_WRITE, 10, 0, 0, 0, 1, ALLOWED, 4, IBV_WC_REM_ACCESS_ERR,
	  IBV_EVENT_QP_ACCESS_ERR },
	{ "remote range", IBV_WR_RDMA_READ, 10, 0, RIG_BUFFER - 9, 0, 0, ALLOWED, 4,
	  IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "access of the QP", IBV_WR_RDMA_WRITE, 10, 0, 0, 0, 0, IBV_ACCESS_REMOTE_READ, 4,
	  IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR },
	{ "no resources for reads", IBV_WR_RDMA_READ, 10, 0, 0, 0, 0, ALLOWED, 0,
	  IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR },
	{ "misaligned atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0, 4, 0, 0, ALLOWED, 4,
	  IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR },
};

static bool refused(const struct mistake *mistake)
{
	struct rig_link link = rig_link_to(0, 0);
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair pair;

	link.access = mistake->access;
	link.max_dest_rd_atomic = (uint8_t)mistake->reads;
	pair = pair_up(IBV_QPT_RC, &link);
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1));
	wr = pair_remote_wr(&pair, &sge, mistake->opcode, mistake->local, mistake->remote,
			    mistake->length);
	sge.lkey += mistake->lkey;
	wr.wr.rdma.rkey += mistake->rkey;
	if (mistake->event) {
		CHECK(fails_at_both(&pair, &wr, mistake->status, mistake->event));
	} else {
		CHECK(fails(&pair, &wr, mistake->status));
		CHECK(rig_quiet(pair.b->cq, 5) && rig_state(pair.qb) == IBV_QPS_RTS);
	}
	return pair_tear_down(&pair);
}

CASE(a_request_with_one_mistake_is_refused)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		if (refused(&mistakes[i]))
			continue;
		printf("wrong: %s\n", mistakes[i].what);
		good = false;
	}
	return good;
}

CASE(a_write_to_a_region_without_remote_write_is_refused)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_mr *mr = MADE(ibv_reg_mr(pair.b->pd, pair.b->buffer, 4096,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	struct ibv_sge sge;
	struct ibv_send_wr wr = pair_remote_wr(&pair, &sge, IBV_WR_RDMA_WRITE, 0, 0, 10);

	wr.wr.rdma.rkey = mr->rkey;
	CHECK(fails_at_both(&pair, &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr));
	return pair_tear_down(&pair);
}

/* Posts three reads and an atomic as one list. */
static bool reads_together(struct pair *pair, struct ibv_send_wr wr[4], unsigned int flags)
{
	static struct ibv_sge sge[4];

	for (int i = 0; i < 4; i++) {
		wr[i] = pair_remote_wr(pair, &sge[i],
				       i == 2 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_RDMA_READ, 0,
				       0, 8);
		wr[i].send_flags |= flags;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	return !rig_post(pair->qa, wr);
}

CASE(more_reads_than_resources_are_refused)
{
	struct rig_link link = rig_link_to(0, 0);
	struct ibv_send_wr wr[4];
	struct pair pair;
	struct ibv_wc wc;

	link.max_dest_rd_atomic = 1;
	pair = pair_up(IBV_QPT_RC, &link);
	/* Each read waits for the one before it. */
	CHECK(reads_together(&pair, wr, IBV_SEND_FENCE));
	for (int i = 0; i < 4; i++)
		CHECK(rig_poll_success(pair.a->cq, &wc));
	CHECK(reads_together(&pair, wr, 0) && rig_poll_success(pair.a->cq, &wc));
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_REM_INV_REQ_ERR);
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_WR_FLUSH_ERR &&
	      rig_state(pair.qb) == IBV_QPS_ERR);
	return pair_tear_down(&pair);
}

/*
 * The peer has one resource, which is free again as soon as a read has completed. Long writes keep
 * the adapter busy while the second read is posted.
 */
CASE(a_completed_read_frees_its_resource)
{
	enum { WRITES = 14 };
	struct rig_link link = rig_link_to(0, 0);
	struct ibv_send_wr read, write;
	struct ibv_sge sge[2];
	struct pair pair;
	struct ibv_wc wc;

	link.max_dest_rd_atomic = 1;
	pair = pair_up(IBV_QPT_RC, &link);
	read = pair_remote_wr(&pair, &sge[0], IBV_WR_RDMA_READ, 0, 0, 8);
	write = pair_remote_wr(&pair, &sge[1], IBV_WR_RDMA_WRITE, 0, 0, RIG_BUFFER);
	for (int round = 0; round < 20; round++) {
		CHECK(!rig_post(pair.qa, &read));
		for (int i = 0; i < WRITES; i++)
			CHECK(!rig_post(pair.qa, &write));
		CHECK(rig_poll_success(pair.a->cq, &wc));
		CHECK(!rig_post(pair.qa, &read));
		for (int i = 0; i < WRITES + 1; i++)
			CHECK(rig_poll_success(pair.a->cq, &wc));
	}
	return pair_tear_down(&pair);
}

/* The initiator has at most max_rd_atomic (4) reads and atomics outstanding, and 8 are posted. */
CASE(the_initiator_limits_its_outstanding_reads)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_send_wr wr[2][4];
	struct ibv_wc wc;

	for (int i = 0; i < 2; i++)
		CHECK(reads_together(&pair, wr[i], 0));
	for (int i = 0; i < 8; i++)
		CHECK(rig_poll_success(pair.a->cq, &wc));
	return pair_tear_down(&pair);
}

/*
 * An adapter would send the pages that it pinned. The emulated HCA reads the program's memory,
 * which is gone (softhca.1).
 */
CASE(a_send_from_unmapped_memory_fails)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	uint8_t *gone =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = MADE(ibv_reg_mr(pair.a->pd, gone, 1 << 20, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);

	sge.addr = (uint64_t)(uintptr_t)gone;
	sge.lkey = mr->lkey;
	CHECK(!munmap(gone, 1 << 20));
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1));
	CHECK(fails(&pair, &wr, IBV_WC_LOC_PROT_ERR));
	CHECK(!ibv_dereg_mr(mr));
	return pair_tear_down(&pair);
}

CASE(a_qp_that_sends_to_itself_gets_both_errors)
{
	struct host *host = rig_host(0);
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	struct rig_link link = rig_link_to(qp->qp_num, host->lid);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(host, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	CHECK(!rig_bring_up(qp, &link));
	CHECK(!rig_post_recv(host, qp, 1000, 5, 1));
	CHECK(!rig_post(qp, &wr));
	/* The receive error moves the QP to ERR. The send gets its own status, not WR_FLUSH_ERR. */
	CHECK(rig_poll(host->cq, &wc) && wc.wr_id == 1 && wc.status == IBV_WC_LOC_LEN_ERR);
	CHECK(rig_poll(host->cq, &wc) && wc.wr_id == 77 && wc.status == IBV_WC_REM_INV_REQ_ERR);
	CHECK(!ibv_destroy_qp(qp));
	rig_free_host(host);
	return true;
}

RIG_MAIN
