/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What must hold on a wire that fails. The test that starts this program sets the faults of the
 * wire.
 */
#include <softhca/tests/e2e/xrc.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 200

/* A connection from host 0 to host 1: RC, or XRC into an SRQ. */
struct pair {
	struct host *a, *b;
	struct ibv_qp *qa, *qb;
	struct ibv_srq *srq; /* NULL = RC */
};

static struct rig_link patient(void)
{
	struct rig_link link = rig_link_to(0, 0);

	/* 1 ms. With 10 % packet loss and seven retries, two in a million messages fail. */
	link.timeout = 8;
	link.retry_cnt = 7;
	return link;
}

static struct pair make_pair(enum ibv_qp_type type, struct rig_link link)
{
	struct pair pair = { .a = rig_host(0), .b = rig_host(1) };
	struct ibv_xrcd *xrcd;

	pair.qa = rig_qp(pair.a, type, NULL);
	if (type == IBV_QPT_XRC_SEND) {
		xrcd = MADE(xrc_domain(pair.b, -1, O_CREAT));
		pair.srq = MADE(xrc_srq(pair.b, xrcd, RIG_DEPTH, 1));
		pair.qb = MADE(xrc_target(pair.b, xrcd));
	} else {
		pair.qb = rig_qp(pair.b, type, NULL);
	}
	rig_connect(pair.a, pair.qa, pair.b, pair.qb, link);
	return pair;
}

static int post_buffer(struct pair *pair, uint32_t length, uint64_t id)
{
	return pair->srq ? rig_post_srq(pair->b, pair->srq, 0, length, id) :
			   rig_post_recv(pair->b, pair->qb, 0, length, id);
}

static struct ibv_send_wr message(struct pair *pair, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
				  uint32_t length)
{
	struct ibv_send_wr wr = rig_wr(pair->a, sge, opcode, 0, length);

	if (pair->srq)
		wr.qp_type.xrc.remote_srqn = xrc_srq_number(pair->srq);
	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)pair->b->buffer;
	wr.wr.rdma.rkey = pair->b->mr->rkey;
	return wr;
}

/* Every message arrives once, with its own contents. Two spare buffers wait all the time. */
static bool all_arrive_once(enum ibv_qp_type type)
{
	struct pair pair = make_pair(type, patient());
	struct ibv_sge sge;
	struct ibv_wc wc;

	CHECK(!post_buffer(&pair, 4096, 0) && !post_buffer(&pair, 4096, 1));
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = message(&pair, &sge, IBV_WR_SEND_WITH_IMM, 1 + i * 20);

		CHECK(!post_buffer(&pair, 4096, i + 2));
		memset(pair.a->buffer, (int)i + 1, 4096);
		wr.imm_data = htobe32(i);
		CHECK(!rig_post(pair.qa, &wr) && rig_poll(pair.a->cq, &wc) &&
		      wc.status == IBV_WC_SUCCESS);
		CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS &&
		      wc.imm_data == htobe32(i));
		CHECK(wc.wr_id == i && wc.byte_len == 1 + i * 20);
		CHECK(!memcmp(pair.b->buffer, pair.a->buffer, wc.byte_len));
	}
	return rig_quiet(pair.b->cq, 20);
}

CASE(sends_once)
{
	return all_arrive_once(IBV_QPT_RC);
}

CASE(xrc_sends_once)
{
	return all_arrive_once(IBV_QPT_XRC_SEND);
}

/*
 * An atomic addition is executed, and its answer is lost. The repetition must not add again, and
 * must get the first answer.
 */
CASE(additions_once)
{
	struct pair pair = make_pair(IBV_QPT_RC, patient());
	struct ibv_sge sge;
	struct ibv_wc wc;
	uint64_t value;

	for (uint64_t i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);

		wr.wr.atomic.remote_addr = (uint64_t)(uintptr_t)pair.b->buffer;
		wr.wr.atomic.rkey = pair.b->mr->rkey;
		wr.wr.atomic.compare_add = 3;
		CHECK(!rig_post(pair.qa, &wr) && rig_poll(pair.a->cq, &wc) &&
		      wc.status == IBV_WC_SUCCESS);
		memcpy(&value, pair.a->buffer, sizeof(value));
		CHECK(value == 3 * i);
	}
	memcpy(&value, pair.b->buffer, sizeof(value));
	CHECK(value == 3 * MESSAGES);
	return true;
}

CASE(reads_and_writes)
{
	struct pair pair = make_pair(IBV_QPT_RC, patient());
	struct ibv_sge sge;
	struct ibv_wc wc;

	for (int i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr =
			message(&pair, &sge, i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 8192);

		memset(i & 1 ? pair.b->buffer : pair.a->buffer, i, 8192);
		CHECK(!rig_post(pair.qa, &wr) && rig_poll(pair.a->cq, &wc) &&
		      wc.status == IBV_WC_SUCCESS);
		CHECK(!memcmp(pair.a->buffer, pair.b->buffer, 8192) &&
		      pair.a->buffer[8191] == (uint8_t)i);
	}
	return true;
}

/* All packets are lost. The sender gets an error, and the receiver nothing. */
CASE(nothing_arrives)
{
	struct pair pair = make_pair(IBV_QPT_RC, patient());
	struct ibv_sge sge;
	struct ibv_send_wr wr = message(&pair, &sge, IBV_WR_SEND, 100);
	struct ibv_wc wc;

	CHECK(!post_buffer(&pair, 4096, 0) && !rig_post(pair.qa, &wr));
	CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_RETRY_EXC_ERR &&
	      rig_quiet(pair.b->cq, 5));
	return true;
}

/*
 * A request has one attempt, and as many repetitions as rnr_retry allows. The test that starts this
 * program counts them.
 */
CASE(receiver_never_ready)
{
	struct rig_link link = patient();
	struct pair pair;
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	link.rnr_retry = 4;
	pair = make_pair(IBV_QPT_RC, link);
	wr = message(&pair, &sge, IBV_WR_SEND, 100);
	CHECK(!rig_post(pair.qa, &wr) && rig_poll(pair.a->cq, &wc) &&
	      wc.status == IBV_WC_RNR_RETRY_EXC_ERR);
	return true;
}

#define PIECE ((size_t)256 << 10) /* what the emulator moves at once, and loses as a whole */
#define LONG  (3 * PIECE)

static struct ibv_mr *big_region(struct host *host)
{
	struct ibv_mr *mr = ibv_reg_mr(host->pd, calloc(1, LONG), LONG, IBV_ACCESS_LOCAL_WRITE);

	NEED(mr);
	return mr;
}

static int post_big(struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct ibv_sge sge = { (uint64_t)(uintptr_t)mr->addr, LONG, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

/*
 * On an unreliable connection lost packets are not repeated. A message with a lost packet does not
 * arrive at all.
 */
CASE(unreliable_messages_are_whole)
{
	struct pair pair = make_pair(IBV_QPT_UC, patient());
	struct ibv_mr *from = big_region(pair.a), *to = big_region(pair.b);
	struct ibv_sge sge = { (uint64_t)(uintptr_t)from->addr, LONG, from->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge,
				  .num_sge = 1 };
	int arrived = 0;
	struct ibv_wc wc;

	CHECK(!post_big(pair.qb, to));
	for (int i = 1; i <= 60; i++) {
		memset(from->addr, i, LONG);
		CHECK(!rig_post(pair.qa, &wr) && rig_poll(pair.a->cq, &wc) &&
		      wc.status == IBV_WC_SUCCESS);
		/* The message arrives before its sender has the completion. */
		if (!ibv_poll_cq(pair.b->cq, 1, &wc))
			continue;
		CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == LONG &&
		      !memcmp(to->addr, from->addr, LONG));
		CHECK(!post_big(pair.qb, to));
		arrived++;
	}
	CHECK(arrived > 0 && arrived < 60);
	return true;
}

/* A piece whose answer is lost is sent again, and the message goes on after it. */
CASE(long_messages_once)
{
	struct pair pair = make_pair(IBV_QPT_RC, patient());
	struct ibv_mr *from = big_region(pair.a), *to = big_region(pair.b);
	struct ibv_sge sge = { (uint64_t)(uintptr_t)from->addr, LONG, from->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_wc wc;

	for (int i = 1; i <= 40; i++) {
		memset(from->addr, i, LONG);
		CHECK(!post_big(pair.qb, to) && !rig_post(pair.qa, &wr));
		CHECK(rig_poll(pair.a->cq, &wc) && wc.status == IBV_WC_SUCCESS);
		CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS &&
		      wc.byte_len == LONG);
		CHECK(!memcmp(to->addr, from->addr, LONG));
	}
	return rig_quiet(pair.b->cq, 20);
}

/* Datagrams have no sequence numbers, so a repeated one arrives twice. */
CASE(datagram_comes_twice)
{
	struct pair pair = make_pair(IBV_QPT_UD, patient());
	struct ibv_ah_attr attr = { .dlid = pair.b->lid, .port_num = 1 };
	struct ibv_ah *ah = ibv_create_ah(pair.a->pd, &attr);
	struct ibv_sge sge;
	struct ibv_send_wr wr = message(&pair, &sge, IBV_WR_SEND, 100);
	struct ibv_wc wc;

	CHECK(ah && !post_buffer(&pair, 4096, 0) && !post_buffer(&pair, 4096, 1));
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = pair.qb->qp_num;
	wr.wr.ud.remote_qkey = 0x11111111;
	CHECK(!rig_post(pair.qa, &wr));
	for (uint64_t i = 0; i < 2; i++)
		CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.wr_id == i &&
		      wc.byte_len == 140);
	return rig_quiet(pair.b->cq, 5);
}

/* Every message is delayed by 20 ms. */
CASE(comes_late)
{
	struct pair pair = make_pair(IBV_QPT_RC, patient());
	struct ibv_sge sge;
	struct ibv_send_wr wr = message(&pair, &sge, IBV_WR_SEND, 100);
	double start = rig_now();
	struct ibv_wc wc;

	CHECK(!post_buffer(&pair, 4096, 0) && !rig_post(pair.qa, &wr));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(rig_now() - start >= 0.02);
	return true;
}

/* The next CREATE_QP fails with ENOMEM, and the one after it succeeds. */
CASE(one_create_fails)
{
	struct host *host = rig_host(0);
	struct ibv_qp_init_attr attr = {
		.send_cq = host->cq, .recv_cq = host->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
	};

	CHECK(!ibv_create_qp(host->pd, &attr) && errno == ENOMEM);
	CHECK(ibv_create_qp(host->pd, &attr));
	return true;
}

RIG_MAIN
