/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Both models: how each reads its provider's part of a command and doorbell words, and which values
 * it rounds.
 */

#include <endian.h>
#include <errno.h>
#include <rdma/mlx4-abi.h>
#include <rdma/mlx5-abi.h>
#include <string.h>

#include <softhca/model/model.h>

#include <tests/unit/unit.h>

static struct driver_part part;
static uint8_t version;

static int context5(const void *in, size_t size)
{
	return connectx5.context(in, size, 1, &connectx5.limits, &part, &version);
}

TEST(context_requests_of_each_library_are_answered)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = { .total_num_bfregs = 15,
						     .num_low_latency_bfregs = 4,
						     .max_cqe_version = 1 };
	struct mlx5_ib_alloc_ucontext_resp resp;

	assert_int_equal(connectx3.context(NULL, 0, 1, &connectx3.limits, &part, &version), 0);
	assert_int_equal(part.size, sizeof(struct mlx4_ib_alloc_ucontext_resp));
	assert_int_equal(version, 0);
	assert_int_equal(context5(&req, sizeof(req)), 0);
	assert_int_equal(version, 1);
	memcpy(&resp, part.bytes, sizeof(resp));
	assert_int_equal(part.size, sizeof(resp));
	assert_int_equal(resp.tot_bfregs, 16);
	assert_int_equal(resp.cqe_version, 1);
	/* The older structures: of a library that knows no user indices, and of the first one. */
	assert_int_equal(context5(&req, 16), 0);
	assert_int_equal(version, 0);
	assert_int_equal(context5(&req, 8), 0);
}

TEST(context_requests_that_libmlx5_never_makes_are_refused)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = { .total_num_bfregs = 16,
						     .num_low_latency_bfregs = 4 };

	assert_int_equal(context5(&req, 4), -EINVAL);
	assert_int_equal(context5(&req, 12), -EINVAL);
	req.flags = 2;
	assert_int_equal(context5(&req, sizeof(req)), -EOPNOTSUPP);
	req = (struct mlx5_ib_alloc_ucontext_req_v2){ .total_num_bfregs = 0 };
	assert_int_equal(context5(&req, sizeof(req)), -EINVAL);
	req.total_num_bfregs = req.num_low_latency_bfregs = 16;
	assert_int_equal(context5(&req, sizeof(req)), -EINVAL);
	req.total_num_bfregs = 514;
	assert_int_equal(context5(&req, sizeof(req)), -ENOMEM);
}

TEST(cq_requests_of_wrong_size_or_entry_are_refused)
{
	const struct mlx4_ib_create_cq four = { .buf_addr = 0x1000, .db_addr = 0x2000 };
	struct mlx5_ib_create_cq five = { .buf_addr = 0x1000, .db_addr = 0x2000, .cqe_size = 128 };
	struct cq_place place;

	assert_int_equal(connectx3.take_cq(&four, sizeof(four), &place), 0);
	assert_int_equal(place.entry, 32);
	assert_int_equal(connectx3.take_cq(&four, sizeof(four) - 8, &place), -EINVAL);
	assert_int_equal(connectx5.take_cq(&five, 24, &place), 0);
	assert_int_equal(place.record, 0x2000);
	assert_int_equal(place.entry, 128);
	assert_int_equal(connectx5.take_cq(&five, 16, &place), -EINVAL);
	five.cqe_size = 32;
	assert_int_equal(connectx5.take_cq(&five, sizeof(five), &place), -EINVAL);
	five.cqe_size = 64;
	five.cqe_comp_en = 1;
	assert_int_equal(connectx5.take_cq(&five, sizeof(five), &place), -EOPNOTSUPP);
}

TEST(an_xrc_srq_takes_a_user_index_only_from_cqe_version_1)
{
	struct mlx5_ib_create_srq req = { .buf_addr = 0x1000, .uidx = 7 };
	struct srq_place place;

	assert_int_equal(connectx5.take_srq(&req, sizeof(req), true, 1, &place), 0);
	assert_int_equal(place.user_index, 7);
	assert_int_equal(connectx5.take_srq(&req, sizeof(req), true, 0, &place), -EINVAL);
	req.uidx = 0xffffff;
	assert_int_equal(connectx5.take_srq(&req, sizeof(req), true, 1, &place), -EINVAL);
	assert_int_equal(connectx5.take_srq(&req, sizeof(req), true, 0, &place), 0);
	assert_int_equal(connectx5.take_srq(&req, sizeof(req), false, 1, &place), 0);
	req.flags = 1; /* signatures */
	assert_int_equal(connectx5.take_srq(&req, sizeof(req), false, 1, &place), -EINVAL);
}

static struct qp_rings rings;
static struct qp_caps caps;

static int qp5(const struct mlx5_ib_create_qp *req, enum ibv_qp_type type, bool shared)
{
	caps = (struct qp_caps){ 10, 10, 1, 32, 0 };
	return connectx5.take_qp(req, sizeof(*req), type, shared, 1, &connectx5.limits, &caps,
				 &rings);
}

TEST(a_connectx3_places_the_ring_of_larger_stride_first)
{
	const struct mlx4_ib_create_qp req = {
		.buf_addr = 0x10000, .db_addr = 0x2000, .log_sq_bb_count = 4, .log_sq_stride = 6
	};
	struct qp_caps four = { 10, 10, 1, 3, 0 };

	assert_int_equal(connectx3.take_qp(&req, sizeof(req), IBV_QPT_RC, false, 0,
					   &connectx3.limits, &four, &rings),
			 0);
	assert_int_equal(rings.sq.count, 16);
	assert_int_equal(rings.rq.count, 16);
	assert_int_equal(four.max_recv_sge, 4);
	/* The queue with the larger stride comes first. With equal strides, the send queue does. */
	assert_int_equal(rings.sq.buffer, 0x10000);
	assert_int_equal(rings.rq.buffer, 0x10000 + 16 * 64);
	assert_int_equal(rings.rq.record, 0x2000);
}

TEST(a_connectx5_places_the_receive_ring_first)
{
	struct mlx5_ib_create_qp req = {
		.buf_addr = 0x10000, .db_addr = 0x2000, .sq_wqe_count = 64, .rq_wqe_count = 16,
		.rq_wqe_shift = 5, .uidx = 3,
		.flags = MLX5_QP_FLAG_SCATTER_CQE,
	};

	assert_int_equal(qp5(&req, IBV_QPT_RC, false), 0);
	assert_int_equal(rings.rq.buffer, 0x10000);
	assert_int_equal(rings.sq.buffer, 0x10000 + 16 * 32);
	assert_int_equal(rings.sq.record, 0x2004);
	assert_int_equal(rings.max_recv_sge, 2);
	assert_int_equal(rings.user_index, 3);
	/* libmlx5 rounds max_sge up to a power of two and returns that in max_recv_sge. */
	req.rq_wqe_shift = 9;
	assert_int_equal(qp5(&req, IBV_QPT_RC, false), 0);
	assert_int_equal(rings.max_recv_sge, 32);
	assert_true((int)rings.max_recv_sge > connectx5.limits.max_sge);
	req.rq_wqe_shift = 10;
	assert_int_equal(qp5(&req, IBV_QPT_RC, false), -EINVAL);
	req.rq_wqe_shift = 5;
	req.sq_wqe_count = 48;
	assert_int_equal(qp5(&req, IBV_QPT_RC, false), -EINVAL);
	req.sq_wqe_count = 65536;
	assert_int_equal(qp5(&req, IBV_QPT_RC, false), -EINVAL);
	req.sq_wqe_count = 64;
	req.flags = MLX5_QP_FLAG_SIGNATURE;
	assert_int_equal(qp5(&req, IBV_QPT_RC, false), -EINVAL);
	req.flags = 0;
	req.uidx = 0xffffff;
	assert_int_equal(qp5(&req, IBV_QPT_RC, false), -EINVAL);
}

/* The driver computes the receive queue itself, and refuses a library with another size. */
TEST(a_qp_without_a_receive_queue_brings_no_receive_ring)
{
	struct mlx5_ib_create_qp req = { .sq_wqe_count = 64,
					 .rq_wqe_count = 16,
					 .rq_wqe_shift = 5 };

	assert_int_equal(qp5(&req, IBV_QPT_XRC_SEND, false), -EINVAL);
	assert_int_equal(qp5(&req, IBV_QPT_RC, true), -EINVAL);
	req.rq_wqe_count = req.rq_wqe_shift = 0;
	assert_int_equal(qp5(&req, IBV_QPT_XRC_SEND, false), 0);
	assert_int_equal(qp5(&req, IBV_QPT_RC, true), 0);
	assert_int_equal(caps.max_recv_wr, 0);
	assert_int_equal(qp5(&req, IBV_QPT_RC, false), -EINVAL);
	/* An XRC target needs no part of the provider. */
	assert_int_equal(connectx5.take_qp(NULL, 0, IBV_QPT_XRC_RECV, false, 1, &connectx5.limits,
					   &caps, &rings),
			 0);
	assert_int_equal(rings.sq.count, 0);
}

TEST(a_doorbell_word_tells_how_much_is_posted)
{
	struct ring four = { .buffer = 0x1000, .count = 4, .shift = 6, .next = 5 };
	struct ring five = { .record = 0x2004, .count = 64, .shift = 6, .next = 0x1fffe };

	assert_int_equal(connectx3.sq_word(&four), 0x1000 + 64);
	assert_int_equal(connectx3.sq_known(&four, htobe32(0x80000000u)), 6);
	assert_int_equal(connectx3.sq_known(&four, 0), 5);
	assert_int_equal(connectx5.sq_word(&five), 0x2004);
	assert_int_equal(connectx5.sq_known(&five, htobe32(0xfffe)), 0x1fffe);
	/* the 16 bits have wrapped */
	assert_int_equal(connectx5.sq_known(&five, htobe32(3)), 0x20003);
}

TEST(arm_words_give_kind_sequence_and_consumer)
{
	struct arm_request arm;

	assert_int_equal(model_arm(&connectx3, 0).kind, ARM_NONE);
	assert_int_equal(model_arm(&connectx3, htobe32(2u << 24)).kind, ARM_NEXT);
	/* 0 arms a CQ of a ConnectX-5, so another word stands for "never". */
	assert_int_equal(model_arm(&connectx5, 0).kind, ARM_NEXT);
	assert_int_equal(model_arm(&connectx5, htobe32(connectx5.arm_never)).kind, ARM_NONE);
	arm = model_arm(&connectx5, htobe32(2u << 28 | 1u << 24 | 0x123456));
	assert_int_equal(arm.kind, ARM_SOLICITED);
	assert_int_equal(arm.sequence, 2);
	assert_int_equal(arm.consumer, 0x123456);
}

UNIT_MAIN(NULL, NULL)
