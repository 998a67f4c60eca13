/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How data moves between two emulated hosts. The two-way exchange (tests/e2e/twoway) has every
 * operation.
 */
#include <softhca/tests/e2e/pair.h>

#include <string.h>
#include <unistd.h>

CASE(inline_pieces_arrive_in_order)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge[3];
	struct ibv_send_wr wr = rig_wr(pair.a, sge, IBV_WR_SEND, 0, 40);
	struct ibv_wc wc;

	pair_pattern(pair.a->buffer, 128, 9);
	rig_wr(pair.a, sge + 1, IBV_WR_SEND, 40, 61);
	rig_wr(pair.a, sge + 2, IBV_WR_SEND, 101, 27);
	sge[0].lkey = sge[1].lkey = sge[2].lkey = 0; /* inline data needs no key */
	wr.num_sge = 3;
	wr.send_flags |= IBV_SEND_INLINE;
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 200, 1));
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_poll_success(pair.b->cq, &wc) && wc.byte_len == 128);
	CHECK(!memcmp(pair.a->buffer, pair.b->buffer, 128));
	return pair_tear_down(&pair);
}

/*
 * On mlx5 a request takes one to three units of the ring. The test first mixes the sizes, then
 * posts only requests of three. So a request wraps at each possible place.
 */
CASE(requests_of_all_sizes_arrive)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_wc wc;

	for (uint32_t i = 0; i < 300; i++) {
		uint32_t length = i < 100 ? 1 + i * 37 % 128 : 109 + i % 20;
		struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, length);

		wr.send_flags |= IBV_SEND_INLINE;
		pair_pattern(pair.a->buffer, length, i);
		memset(pair.b->buffer, 0, 200);
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 200, i) && !rig_post(pair.qa, &wr) &&
		      rig_poll(pair.a->cq, &wc));
		CHECK(wc.status == IBV_WC_SUCCESS && rig_poll(pair.b->cq, &wc) &&
		      wc.byte_len == length && wc.wr_id == i);
		CHECK(!memcmp(pair.a->buffer, pair.b->buffer, length) && !pair.b->buffer[length]);
	}
	return pair_tear_down(&pair);
}

CASE(pieces_are_gathered_and_scattered)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge from[2], to[3];
	struct ibv_send_wr wr = rig_wr(pair.a, from, IBV_WR_SEND, 0, 300);
	struct ibv_recv_wr recv = { .wr_id = 5, .sg_list = to, .num_sge = 3 };
	struct ibv_recv_wr *bad;
	struct ibv_wc wc;

	pair_pattern(pair.a->buffer, 1000, 1);
	rig_wr(pair.a, from + 1, IBV_WR_SEND, 500, 200);
	wr.num_sge = 2;
	rig_wr(pair.b, to, IBV_WR_SEND, 0, 10);
	rig_wr(pair.b, to + 1, IBV_WR_SEND, 1000, 390);
	rig_wr(pair.b, to + 2, IBV_WR_SEND, 2000, 400);
	CHECK(!ibv_post_recv(pair.qb, &recv, &bad));
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_poll_success(pair.b->cq, &wc) && wc.byte_len == 500);
	CHECK(!memcmp(pair.b->buffer, pair.a->buffer, 10));
	CHECK(!memcmp(pair.b->buffer + 1000, pair.a->buffer + 10, 290));
	CHECK(!memcmp(pair.b->buffer + 1290, pair.a->buffer + 500, 100));
	CHECK(!memcmp(pair.b->buffer + 2000, pair.a->buffer + 600, 100));
	return pair_tear_down(&pair);
}

CASE(a_fenced_read_returns_what_was_written_before)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge[2];
	struct ibv_send_wr read =
		pair_remote_wr(&pair, sge + 1, IBV_WR_RDMA_READ, 30000, 200, 20000);
	struct ibv_send_wr write = pair_remote_wr(&pair, sge, IBV_WR_RDMA_WRITE, 0, 200, 20000);
	struct ibv_wc wc;

	pair_pattern(pair.a->buffer, 20000, 77);
	write.next = &read;
	write.send_flags = 0; /* unsignaled: its slot is given back by the next completion */
	read.send_flags |= IBV_SEND_FENCE;
	CHECK(!rig_post(pair.qa, &write));
	CHECK(rig_poll_success(pair.a->cq, &wc) && wc.opcode == IBV_WC_RDMA_READ);
	CHECK(wc.byte_len == 20000 && !memcmp(pair.a->buffer, pair.b->buffer + 200, 20000));
	CHECK(!memcmp(pair.a->buffer, pair.a->buffer + 30000, 20000));
	CHECK(rig_quiet(pair.a->cq, 5) && rig_quiet(pair.b->cq, 5));
	return pair_tear_down(&pair);
}

/* ---- the other transports ---- */

CASE(uc_loses_a_message_without_a_receive)
{
	struct pair pair = pair_up(IBV_QPT_UC, NULL);
	struct ibv_wc wc;

	/* No buffer: the message is lost without an error. */
	CHECK(pair_send(&pair, 100, IBV_WC_SUCCESS));
	CHECK(!rig_post_recv(pair.b, pair.qb, 500, 100, 1) && rig_quiet(pair.b->cq, 5));
	pair_pattern(pair.a->buffer, 100, 8);
	CHECK(pair_send(&pair, 100, IBV_WC_SUCCESS) && rig_poll_success(pair.b->cq, &wc));
	CHECK(!memcmp(pair.a->buffer, pair.b->buffer + 500, 100));
	return pair_tear_down(&pair);
}

static bool one_message(struct pair *pair)
{
	struct ibv_wc wc;

	CHECK(!rig_post_recv(pair->b, pair->qb, 0, 100, 1));
	CHECK(pair_send(pair, 100, IBV_WC_SUCCESS));
	return rig_poll_success(pair->b->cq, &wc) && wc.qp_num == pair->qb->qp_num;
}

/*
 * A doorbell does not tell which QP it is for. If it rings while a QP is in RESET, the QP's empty
 * ring must not look filled.
 */
CASE(a_doorbell_of_another_qp_fills_no_empty_ring)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct pair later = pair;
	struct ibv_wc wc;

	later.qa = rig_qp(pair.a, IBV_QPT_RC, NULL);
	later.qb = rig_qp(pair.b, IBV_QPT_RC, NULL);
	CHECK(one_message(&pair));
	rig_connect(later.a, later.qa, later.b, later.qb, rig_link_to(0, 0));
	for (int i = 0; i < 3; i++)
		CHECK(one_message(&later));
	CHECK(!ibv_poll_cq(pair.a->cq, 1, &wc) && !ibv_poll_cq(pair.b->cq, 1, &wc));
	CHECK(!ibv_destroy_qp(later.qa) && !ibv_destroy_qp(later.qb));
	return pair_tear_down(&pair);
}

/* The message arrives although the program ends the connection right after it. */
CASE(a_message_posted_before_its_qp_ends_arrives)
{
	for (int round = 0; round < 20; round++) {
		struct pair pair = pair_up(IBV_QPT_RC, NULL);
		struct ibv_sge sge;
		struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 100);
		struct ibv_wc wc;

		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1) && !rig_post(pair.qa, &wr));
		CHECK(!(round & 1 ? rig_to_state(pair.qa, IBV_QPS_ERR) : ibv_destroy_qp(pair.qa)));
		CHECK(ibv_poll_cq(pair.b->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
		CHECK((!(round & 1) || !ibv_destroy_qp(pair.qa)) && !ibv_destroy_qp(pair.qb));
		rig_free_host(pair.a);
		rig_free_host(pair.b);
	}
	return true;
}

/* Writes that were posted before the peer closed its device change nothing in its memory. */
CASE(nothing_arrives_after_the_close)
{
	for (int round = 0; round < 60; round++) {
		struct pair pair = pair_up(IBV_QPT_RC, NULL);
		struct ibv_sge sge;
		struct ibv_send_wr wr =
			pair_remote_wr(&pair, &sge, IBV_WR_RDMA_WRITE, 0, 0, RIG_BUFFER);

		memset(pair.a->buffer, 1, RIG_BUFFER);
		for (int i = 0; i < RIG_DEPTH; i++)
			CHECK(!rig_post(pair.qa, &wr));
		CHECK(!ibv_close_device(pair.b->ctx));
		memset(pair.b->buffer, 0, RIG_BUFFER);
		usleep(1000);
		CHECK(!memchr(pair.b->buffer, 1, RIG_BUFFER));
		CHECK(!ibv_destroy_qp(pair.qa));
		rig_free_host(pair.a);
	}
	return true;
}

RIG_MAIN
