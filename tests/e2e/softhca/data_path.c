// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* What moves data: every operation and every way in which one fails, between two emulated hosts. */
#include "rig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Two hosts with a connected pair of RC QPs. */
struct pair {
	struct host *a, *b;
	struct ibv_qp *qa, *qb;
};

static struct pair pair_up(enum ibv_qp_type type, const struct rig_link *link)
{
	struct pair pair = { .a = rig_host(0), .b = rig_host(1) };
	const struct rig_link usual = rig_link_to(0, 0);

	pair.qa = rig_qp(pair.a, type, NULL);
	pair.qb = rig_qp(pair.b, type, NULL);
	rig_connect(pair.a, pair.qa, pair.b, pair.qb, link ? *link : usual);
	return pair;
}

static bool tear_down(struct pair *pair)
{
	CHECK(!ibv_destroy_qp(pair->qa) && !ibv_destroy_qp(pair->qb));
	rig_free_host(pair->a);
	rig_free_host(pair->b);
	return true;
}

static void pattern(uint8_t *at, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		at[i] = (uint8_t)(seed + i * 7);
}

static bool send_with_immediate(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND_WITH_IMM, 0, 5000);
	struct ibv_wc wc;

	pattern(pair.a->buffer, 5000, 3);
	wr.imm_data = htobe32(0xfeedbeef);
	CHECK(!rig_post_recv(pair.b, pair.qb, 100, 8000, 42));
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_poll(pair.b->cq, &wc));
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.wr_id == 42 && wc.byte_len == 5000);
	CHECK(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == htobe32(0xfeedbeef) && wc.qp_num == pair.qb->qp_num);
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_SEND && wc.wr_id == 77);
	CHECK(!memcmp(pair.a->buffer, pair.b->buffer + 100, 5000));
	CHECK(pair.b->buffer[99] == 0 && pair.b->buffer[5100] == 0);
	return tear_down(&pair);
}

static bool inline_in_pieces(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge[3];
	struct ibv_send_wr wr = rig_wr(pair.a, sge, IBV_WR_SEND, 0, 40);
	struct ibv_wc wc;

	pattern(pair.a->buffer, 128, 9);
	rig_wr(pair.a, sge + 1, IBV_WR_SEND, 40, 61);
	rig_wr(pair.a, sge + 2, IBV_WR_SEND, 101, 27);
	sge[0].lkey = sge[1].lkey = sge[2].lkey = 0; /* inline data needs no key */
	wr.num_sge = 3;
	wr.send_flags |= IBV_SEND_INLINE;
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 200, 1));
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.byte_len == 128);
	CHECK(!memcmp(pair.a->buffer, pair.b->buffer, 128));
	return tear_down(&pair);
}

static bool scatter_and_gather(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge from[2], to[3];
	struct ibv_send_wr wr = rig_wr(pair.a, from, IBV_WR_SEND, 0, 300);
	struct ibv_recv_wr recv = { .wr_id = 5, .sg_list = to, .num_sge = 3 };
	struct ibv_recv_wr *bad;
	struct ibv_wc wc;

	pattern(pair.a->buffer, 1000, 1);
	rig_wr(pair.a, from + 1, IBV_WR_SEND, 500, 200);
	wr.num_sge = 2;
	rig_wr(pair.b, to, IBV_WR_SEND, 0, 10);
	rig_wr(pair.b, to + 1, IBV_WR_SEND, 1000, 390);
	rig_wr(pair.b, to + 2, IBV_WR_SEND, 2000, 400);
	CHECK(!ibv_post_recv(pair.qb, &recv, &bad));
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.byte_len == 500);
	CHECK(!memcmp(pair.b->buffer, pair.a->buffer, 10));
	CHECK(!memcmp(pair.b->buffer + 1000, pair.a->buffer + 10, 290));
	CHECK(!memcmp(pair.b->buffer + 1290, pair.a->buffer + 500, 100));
	CHECK(!memcmp(pair.b->buffer + 2000, pair.a->buffer + 600, 100));
	return tear_down(&pair);
}

static struct ibv_send_wr remote_wr(struct pair *pair, struct ibv_sge *sge, enum ibv_wr_opcode opcode, size_t local,
				    size_t remote, uint32_t length)
{
	struct ibv_send_wr wr = rig_wr(pair->a, sge, opcode, local, length);

	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)pair->b->buffer + remote;
	wr.wr.rdma.rkey = pair->b->mr->rkey;
	return wr;
}

static bool write_and_read(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge[2];
	struct ibv_send_wr read = remote_wr(&pair, sge + 1, IBV_WR_RDMA_READ, 30000, 200, 20000);
	struct ibv_send_wr write = remote_wr(&pair, sge, IBV_WR_RDMA_WRITE, 0, 200, 20000);
	struct ibv_wc wc;

	pattern(pair.a->buffer, 20000, 77);
	write.next = &read;
	write.send_flags = 0; /* unsignaled: its slot is given back by the next completion */
	read.send_flags |= IBV_SEND_FENCE;
	CHECK(!rig_post(pair.qa, &write));
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RDMA_READ);
	CHECK(wc.byte_len == 20000 && !memcmp(pair.a->buffer, pair.b->buffer + 200, 20000));
	CHECK(!memcmp(pair.a->buffer, pair.a->buffer + 30000, 20000));
	CHECK(rig_quiet(pair.a->cq, 5) && rig_quiet(pair.b->cq, 5));
	return tear_down(&pair);
}

static bool write_with_immediate(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = remote_wr(&pair, &sge, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 300, 3000);
	struct ibv_wc wc;

	pattern(pair.a->buffer, 3000, 5);
	wr.imm_data = htobe32(99);
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 0, 8));
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(wc.imm_data == htobe32(99) && wc.byte_len == 3000 && wc.wr_id == 8);
	CHECK(!memcmp(pair.a->buffer, pair.b->buffer + 300, 3000));
	return tear_down(&pair);
}

static bool atomic(struct pair *pair, enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap, uint64_t *old)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair->a, &sge, opcode, 0, 8);
	struct ibv_wc wc;

	wr.wr.atomic.remote_addr = (uint64_t)(uintptr_t)pair->b->buffer;
	wr.wr.atomic.rkey = pair->b->mr->rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	CHECK(!rig_post(pair->qa, &wr));
	CHECK(rig_poll(pair->a->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.byte_len == 8);
	memcpy(old, pair->a->buffer, 8);
	return true;
}

static bool atomics(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	uint64_t value = 1000, old;

	memcpy(pair.b->buffer, &value, 8);
	CHECK(atomic(&pair, IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0, &old) && old == 1000);
	CHECK(atomic(&pair, IBV_WR_ATOMIC_CMP_AND_SWP, 1, 2, &old) && old == 1005);
	CHECK(atomic(&pair, IBV_WR_ATOMIC_CMP_AND_SWP, 1005, 7, &old) && old == 1005);
	memcpy(&value, pair.b->buffer, 8);
	CHECK(value == 7);
	return tear_down(&pair);
}

/* ---- failures: the sender's status, the receiver's, and that both QPs are in ERR ---- */

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(qp, &attr, 0, &init) ? IBV_QPS_UNKNOWN : attr.qp_state;
}

static bool fails(struct pair *pair, struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	CHECK(!rig_post(pair->qa, wr));
	CHECK(rig_poll(pair->a->cq, &wc));
	CHECK(wc.status == status);
	CHECK(wc.wr_id == wr->wr_id && state_of(pair->qa) == IBV_QPS_ERR);
	return true;
}

static bool no_answer(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	CHECK(!ibv_modify_qp(pair.qb, &attr, IBV_QP_STATE));
	CHECK(fails(&pair, &wr, IBV_WC_RETRY_EXC_ERR));
	return tear_down(&pair);
}

static bool late_peer_is_waited_for(void)
{
	struct host *a = rig_host(0), *b = rig_host(1);
	struct ibv_qp *qa = rig_qp(a, IBV_QPT_RC, NULL), *qb = rig_qp(b, IBV_QPT_RC, NULL);
	struct rig_link to_b = rig_link_to(qb->qp_num, b->lid), to_a = rig_link_to(qa->qp_num, a->lid);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	to_b.timeout = 18; /* one second */
	CHECK(!rig_init(qa, &to_b) && !rig_rtr(qa, &to_b) && !rig_rts(qa, &to_b));
	CHECK(!rig_post(qa, &wr));
	CHECK(!rig_init(qb, &to_a) && !rig_post_recv(b, qb, 0, 10, 1));
	CHECK(rig_quiet(a->cq, 20));
	CHECK(!rig_rtr(qb, &to_a));
	/* At once, not when the timeout is over. */
	CHECK(rig_poll_within(a->cq, &wc, 500) && wc.status == IBV_WC_SUCCESS);
	CHECK(rig_poll(b->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(!ibv_destroy_qp(qa) && !ibv_destroy_qp(qb));
	rig_free_host(a);
	rig_free_host(b);
	return true;
}

static bool stranger_is_not_answered(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_qp *stranger = rig_qp(pair.a, IBV_QPT_RC, NULL);
	struct rig_link link = rig_link_to(pair.qb->qp_num, pair.b->lid);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	/* qb is connected to qa: an answer to somebody else never arrives. */
	CHECK(!rig_init(stranger, &link) && !rig_rtr(stranger, &link) && !rig_rts(stranger, &link));
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1));
	CHECK(!rig_post(stranger, &wr));
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_RETRY_EXC_ERR && wc.qp_num == stranger->qp_num);
	CHECK(!ibv_destroy_qp(stranger));
	return tear_down(&pair);
}

static bool wrong_sequence_is_not_answered(void)
{
	struct host *a = rig_host(0), *b = rig_host(1);
	struct ibv_qp *qa = rig_qp(a, IBV_QPT_RC, NULL), *qb = rig_qp(b, IBV_QPT_RC, NULL);
	struct rig_link to_b = rig_link_to(qb->qp_num, b->lid), to_a = rig_link_to(qa->qp_num, a->lid);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	to_a.psn++;
	CHECK(!rig_init(qa, &to_b) && !rig_rtr(qa, &to_b) && !rig_rts(qa, &to_b));
	CHECK(!rig_init(qb, &to_a) && !rig_rtr(qb, &to_a) && !rig_post_recv(b, qb, 0, 10, 1));
	CHECK(!rig_post(qa, &wr) && rig_poll(a->cq, &wc) && wc.status == IBV_WC_RETRY_EXC_ERR);
	CHECK(rig_quiet(b->cq, 5));
	CHECK(!ibv_destroy_qp(qa) && !ibv_destroy_qp(qb));
	rig_free_host(a);
	rig_free_host(b);
	return true;
}

static bool receiver_not_ready(void)
{
	struct rig_link link = rig_link_to(0, 0);
	struct pair pair;
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	link.rnr_retry = 2;
	pair = pair_up(IBV_QPT_RC, &link);
	wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	CHECK(fails(&pair, &wr, IBV_WC_RNR_RETRY_EXC_ERR));
	return tear_down(&pair);
}

static bool receiver_ready_later(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_quiet(pair.a->cq, 20));
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 10, 1));
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	return tear_down(&pair);
}

static bool message_too_long(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 101);
	struct ibv_wc wc;

	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 4));
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 5));
	CHECK(fails(&pair, &wr, IBV_WC_REM_INV_REQ_ERR));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_LOC_LEN_ERR && wc.wr_id == 4);
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 5);
	CHECK(state_of(pair.qb) == IBV_QPS_ERR);
	return tear_down(&pair);
}

static bool posted_in_error_is_flushed(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	CHECK(!ibv_modify_qp(pair.qa, &attr, IBV_QP_STATE));
	wr.send_flags = 0; /* a flush is reported to those who asked for no report, too */
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 77);
	CHECK(!rig_post_recv(pair.a, pair.qa, 0, 10, 3));
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 3);
	return tear_down(&pair);
}

static bool bad_local_key(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);

	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1));
	sge.lkey = pair.a->mr->lkey + 1;
	CHECK(fails(&pair, &wr, IBV_WC_LOC_PROT_ERR));
	CHECK(rig_quiet(pair.b->cq, 5) && state_of(pair.qb) == IBV_QPS_RTS);
	return tear_down(&pair);
}

static bool local_range(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, RIG_BUFFER - 10, 11);

	CHECK(fails(&pair, &wr, IBV_WC_LOC_PROT_ERR));
	return tear_down(&pair);
}

static bool other_pd_key(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_pd *pd = ibv_alloc_pd(pair.a->ctx);
	struct ibv_mr *mr = ibv_reg_mr(pd, pair.a->buffer, 4096, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);

	CHECK(mr);
	sge.lkey = mr->lkey;
	CHECK(fails(&pair, &wr, IBV_WC_LOC_PROT_ERR));
	CHECK(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
	return tear_down(&pair);
}

static bool receive_key(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge, to = { (uint64_t)(uintptr_t)pair.b->buffer, 100, pair.b->mr->lkey ^ 0x80 };
	struct ibv_recv_wr recv = { .wr_id = 6, .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_recv_wr *bad;
	struct ibv_wc wc;

	CHECK(!ibv_post_recv(pair.qb, &recv, &bad));
	CHECK(fails(&pair, &wr, IBV_WC_REM_OP_ERR));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_LOC_PROT_ERR && wc.wr_id == 6);
	return tear_down(&pair);
}

static bool refused_remotely(struct pair *pair, struct ibv_send_wr *wr, enum ibv_wc_status status,
			     enum ibv_event_type type)
{
	struct ibv_async_event event;

	CHECK(fails(pair, wr, status));
	CHECK(state_of(pair->qb) == IBV_QPS_ERR);
	CHECK(rig_async(pair->b->ctx, &event) && event.event_type == type && event.element.qp == pair->qb);
	ibv_ack_async_event(&event);
	return tear_down(pair);
}

static bool bad_remote_key(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = remote_wr(&pair, &sge, IBV_WR_RDMA_WRITE, 0, 0, 10);

	wr.wr.rdma.rkey++;
	return refused_remotely(&pair, &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static bool remote_range(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = remote_wr(&pair, &sge, IBV_WR_RDMA_READ, 0, RIG_BUFFER - 9, 10);

	return refused_remotely(&pair, &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static bool remote_access_of_region(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_mr *mr = ibv_reg_mr(pair.b->pd, pair.b->buffer, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	struct ibv_sge sge;
	struct ibv_send_wr wr = remote_wr(&pair, &sge, IBV_WR_RDMA_WRITE, 0, 0, 10);
	struct ibv_async_event event;

	CHECK(mr);
	wr.wr.rdma.rkey = mr->rkey;
	CHECK(fails(&pair, &wr, IBV_WC_REM_ACCESS_ERR));
	CHECK(rig_async(pair.b->ctx, &event));
	ibv_ack_async_event(&event);
	CHECK(!ibv_dereg_mr(mr));
	return tear_down(&pair);
}

static bool remote_access_of_qp(void)
{
	struct rig_link link = rig_link_to(0, 0);
	struct pair pair;
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	link.access = IBV_ACCESS_REMOTE_READ;
	pair = pair_up(IBV_QPT_RC, &link);
	wr = remote_wr(&pair, &sge, IBV_WR_RDMA_WRITE, 0, 0, 10);
	return refused_remotely(&pair, &wr, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

static bool no_read_resources(void)
{
	struct rig_link link = rig_link_to(0, 0);
	struct pair pair;
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	link.max_dest_rd_atomic = 0;
	pair = pair_up(IBV_QPT_RC, &link);
	wr = remote_wr(&pair, &sge, IBV_WR_RDMA_READ, 0, 0, 10);
	return refused_remotely(&pair, &wr, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

static bool misaligned_atomic(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);

	wr.wr.atomic.remote_addr = (uint64_t)(uintptr_t)pair.b->buffer + 4;
	wr.wr.atomic.rkey = pair.b->mr->rkey;
	return refused_remotely(&pair, &wr, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

static bool unmapped_memory(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	uint8_t *gone = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(pair.a->pd, gone, 1 << 20, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);

	CHECK(gone != MAP_FAILED && mr);
	sge.addr = (uint64_t)(uintptr_t)gone;
	sge.lkey = mr->lkey;
	CHECK(!munmap(gone, 1 << 20));
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1));
	CHECK(fails(&pair, &wr, IBV_WC_LOC_PROT_ERR));
	CHECK(!ibv_dereg_mr(mr));
	return tear_down(&pair);
}

static bool qp_to_itself(void)
{
	struct host *host = rig_host(0);
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	struct rig_link link = rig_link_to(qp->qp_num, host->lid);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(host, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	CHECK(!rig_init(qp, &link) && !rig_rtr(qp, &link) && !rig_rts(qp, &link));
	CHECK(!rig_post_recv(host, qp, 1000, 5, 1));
	CHECK(!rig_post(qp, &wr));
	/* The real reason comes first, whatever is flushed after it. */
	CHECK(rig_poll(host->cq, &wc) && wc.wr_id == 1 && wc.status == IBV_WC_LOC_LEN_ERR);
	CHECK(rig_poll(host->cq, &wc) && wc.wr_id == 77 && wc.status == IBV_WC_REM_INV_REQ_ERR);
	CHECK(!ibv_destroy_qp(qp));
	rig_free_host(host);
	return true;
}

/* ---- the other transports ---- */

static bool unreliable_connection(void)
{
	struct pair pair = pair_up(IBV_QPT_UC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 100);
	struct ibv_wc wc;

	CHECK(!rig_post(pair.qa, &wr)); /* no buffer: lost without a word */
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(!rig_post_recv(pair.b, pair.qb, 500, 100, 1) && rig_quiet(pair.b->cq, 5));
	pattern(pair.a->buffer, 100, 8);
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(!memcmp(pair.a->buffer, pair.b->buffer + 500, 100));
	return tear_down(&pair);
}

static bool datagram(void)
{
	struct pair pair = pair_up(IBV_QPT_UD, NULL);
	union ibv_gid gid;
	struct ibv_ah_attr attr = { .dlid = pair.b->lid, .port_num = 1, .is_global = 1 };
	struct ibv_ah *ah;
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 100);
	struct ibv_wc wc;

	CHECK(!ibv_query_gid(pair.b->ctx, 1, 0, &gid));
	attr.grh.dgid = gid;
	ah = ibv_create_ah(pair.a->pd, &attr);
	CHECK(ah);
	pattern(pair.a->buffer, 100, 8);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = pair.qb->qp_num;
	wr.wr.ud.remote_qkey = 0x22222222; /* wrong: dropped */
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 140, 1));
	CHECK(!rig_post(pair.qa, &wr) && rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(rig_quiet(pair.b->cq, 5));
	wr.wr.ud.remote_qkey = 0x11111111;
	CHECK(!rig_post(pair.qa, &wr) && rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(wc.byte_len == 140 && wc.src_qp == pair.qa->qp_num && wc.slid == pair.a->lid && wc.wc_flags & IBV_WC_GRH);
	CHECK(!memcmp(pair.b->buffer + 40, pair.a->buffer, 100) && !memcmp(pair.b->buffer + 24, gid.raw, 16));
	CHECK(rig_poll(pair.a->cq, &wc) && !ibv_destroy_ah(ah));
	return tear_down(&pair);
}

static const struct rig_case cases[] = {
	{ "send_with_immediate", send_with_immediate },
	{ "inline_in_pieces", inline_in_pieces },
	{ "scatter_and_gather", scatter_and_gather },
	{ "write_and_read", write_and_read },
	{ "write_with_immediate", write_with_immediate },
	{ "atomics", atomics },
	{ "no_answer", no_answer },
	{ "late_peer_is_waited_for", late_peer_is_waited_for },
	{ "stranger_is_not_answered", stranger_is_not_answered },
	{ "wrong_sequence_is_not_answered", wrong_sequence_is_not_answered },
	{ "receiver_not_ready", receiver_not_ready },
	{ "receiver_ready_later", receiver_ready_later },
	{ "message_too_long", message_too_long },
	{ "posted_in_error_is_flushed", posted_in_error_is_flushed },
	{ "bad_local_key", bad_local_key },
	{ "local_range", local_range },
	{ "other_pd_key", other_pd_key },
	{ "receive_key", receive_key },
	{ "bad_remote_key", bad_remote_key },
	{ "remote_range", remote_range },
	{ "remote_access_of_region", remote_access_of_region },
	{ "remote_access_of_qp", remote_access_of_qp },
	{ "no_read_resources", no_read_resources },
	{ "misaligned_atomic", misaligned_atomic },
	{ "unmapped_memory", unmapped_memory },
	{ "qp_to_itself", qp_to_itself },
	{ "unreliable_connection", unreliable_connection },
	{ "datagram", datagram },
};

int main(int argc, char **argv)
{
	return rig_run(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
