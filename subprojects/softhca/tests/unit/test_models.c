/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* How each model reads its provider's part of a command and doorbell words, and numbers objects. */

#include <endian.h>
#include <errno.h>
#include <rdma/mlx4-abi.h>
#include <rdma/mlx5-abi.h>

#include <machine/hca.h>
#include <machine/mem.h>
#include <model/model.h>

#include <harness/unit.h>

/* The good requests are tested by the providers themselves, in tests/e2e. */

static uint8_t version;

static int context5(uint32_t bfregs, uint32_t fast_bfregs, uint32_t flags, size_t size)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = bfregs, .num_low_latency_bfregs = fast_bfregs, .flags = flags,
		.max_cqe_version = 1,
	};
	struct driver_part part;

	return connectx5.context(&req, size, 1, &connectx5.limits, &part, &version);
}

#define WHOLE sizeof(struct mlx5_ib_alloc_ucontext_req_v2)

TEST(context_requests_that_libmlx5_never_makes_are_refused)
{
	assert_int_equal(context5(16, 4, 0, 4), -EINVAL);
	assert_int_equal(context5(16, 4, 0, 12), -EINVAL);
	assert_int_equal(context5(16, 4, 2, WHOLE), -EOPNOTSUPP);
	assert_int_equal(context5(0, 0, 0, WHOLE), -EINVAL);
	assert_int_equal(context5(16, 16, 0, WHOLE), -EINVAL);
	assert_int_equal(context5(514, 4, 0, WHOLE), -ENOMEM);
}

/* A library that sends an older, shorter structure knows no user indices. */
TEST(the_length_of_a_context_request_decides_its_version)
{
	assert_int_equal(context5(15, 4, 0, WHOLE), 0);
	assert_int_equal(version, 1);
	assert_int_equal(context5(15, 4, 0, 16), 0);
	assert_int_equal(version, 0);
	assert_int_equal(context5(15, 4, 0, 8), 0);
}

TEST(cq_requests_of_wrong_size_or_entry_are_refused)
{
	const struct mlx4_ib_create_cq four = { .buf_addr = 0x1000, .db_addr = 0x2000 };
	struct mlx5_ib_create_cq five = { .buf_addr = 0x1000, .db_addr = 0x2000, .cqe_size = 128 };
	struct cq_place place;

	assert_int_equal(connectx3.take_cq(&four, sizeof(four) - 8, &place), -EINVAL);
	assert_int_equal(connectx5.take_cq(&five, 24, &place), 0);
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
	req.flags = 1; /* signatures */
	assert_int_equal(connectx5.take_srq(&req, sizeof(req), false, 1, &place), -EINVAL);
}

static struct qp_rings rings;
static struct qp_caps caps;

static int qp5(struct mlx5_ib_create_qp req, enum ibv_qp_type type, bool shared)
{
	caps = (struct qp_caps){ 10, 10, 1, 32, 0 };
	return connectx5.take_qp(&req, sizeof(req), type, shared, 1, &connectx5.limits, &caps,
				 &rings);
}

static struct mlx5_ib_create_qp good_qp(void)
{
	return (struct mlx5_ib_create_qp){
		.buf_addr = 0x10000, .db_addr = 0x2000, .sq_wqe_count = 64, .rq_wqe_count = 16,
		.rq_wqe_shift = 5, .uidx = 3,
	};
}

/* libmlx5 rounds max_sge up to a power of two and returns that in max_recv_sge. */
TEST(a_receive_stride_may_exceed_max_sge_as_libmlx5_rounds_it_up)
{
	struct mlx5_ib_create_qp req = good_qp();

	req.rq_wqe_shift = 9;
	assert_int_equal(qp5(req, IBV_QPT_RC, false), 0);
	assert_int_equal(rings.max_recv_sge, 32);
	assert_true((int)rings.max_recv_sge > connectx5.limits.max_sge);
	req.rq_wqe_shift = 10;
	assert_int_equal(qp5(req, IBV_QPT_RC, false), -EINVAL);
}

TEST(qp_requests_that_libmlx5_never_makes_are_refused)
{
	struct mlx5_ib_create_qp req = good_qp();

	req.sq_wqe_count = 48;
	assert_int_equal(qp5(req, IBV_QPT_RC, false), -EINVAL);
	req.sq_wqe_count = 65536;
	assert_int_equal(qp5(req, IBV_QPT_RC, false), -EINVAL);
	req = good_qp();
	req.flags = MLX5_QP_FLAG_SIGNATURE;
	assert_int_equal(qp5(req, IBV_QPT_RC, false), -EINVAL);
	req = good_qp();
	req.uidx = 0xffffff;
	assert_int_equal(qp5(req, IBV_QPT_RC, false), -EINVAL);
}

/* The driver computes the receive queue itself, and refuses a library with another size. */
TEST(a_qp_without_a_receive_queue_brings_no_receive_ring)
{
	struct mlx5_ib_create_qp req = good_qp();

	assert_int_equal(qp5(req, IBV_QPT_XRC_SEND, false), -EINVAL);
	assert_int_equal(qp5(req, IBV_QPT_RC, true), -EINVAL);
	req.rq_wqe_count = req.rq_wqe_shift = 0;
	assert_int_equal(qp5(req, IBV_QPT_RC, false), -EINVAL);
	assert_int_equal(qp5(req, IBV_QPT_RC, true), 0);
	assert_int_equal(caps.max_recv_wr, 0);
}

TEST(a_doorbell_word_tells_how_much_is_posted)
{
	struct ring four = { .buffer = { 0x1000 }, .count = 4, .shift = 6, .next = 5 };
	struct ring five = { .record = { 0x2004 }, .count = 64, .shift = 6, .next = 0x1fffe };

	assert_int_equal(connectx3.sq_known(&four, htobe32(0x80000000u)), 6);
	assert_int_equal(connectx3.sq_known(&four, 0), 5);
	assert_int_equal(connectx5.sq_known(&five, htobe32(0xfffe)), 0x1fffe);
	/* the 16 bits have wrapped */
	assert_int_equal(connectx5.sq_known(&five, htobe32(3)), 0x20003);
}

TEST(arm_words_give_kind_sequence_and_consumer)
{
	struct arm_request arm;

	assert_int_equal(model_arm(&connectx3, 0).kind, ARM_NONE);
	/* 0 arms a CQ of a ConnectX-5, so another word stands for "never". */
	assert_int_equal(model_arm(&connectx5, 0).kind, ARM_NEXT);
	assert_int_equal(model_arm(&connectx5, htobe32(connectx5.arm_never)).kind, ARM_NONE);
	arm = model_arm(&connectx5, htobe32(2u << 28 | 1u << 24 | 0x123456));
	assert_int_equal(arm.kind, ARM_SOLICITED);
	assert_int_equal(arm.sequence, 2);
	assert_int_equal(arm.consumer, 0x123456);
}

/* A 32-bit program stores a doorbell of 64 bits in two halves. */
TEST(either_half_of_a_doorbell_rings_once)
{
	const struct bell bells[] = { connectx3.arm_bell, connectx5.arm_bell, connectx5.send_bell };
	static _Alignas(uint64_t) uint8_t page[4096];
	struct hca_context ctx = { .uar = page };

	for (int i = 0; i < 6; i++) {
		assert_int_equal(bells[i / 2].bytes, 8);
		assert_false(bell_take(&ctx, &bells[i / 2]));
		page[bells[i / 2].at + 4 * (unsigned int)(i % 2)] = 1;
		assert_true(bell_take(&ctx, &bells[i / 2]));
		assert_false(bell_take(&ctx, &bells[i / 2]));
	}
}

static void take_all(struct numtab *numbers, int count)
{
	uint32_t number;

	for (int i = 0; i < count; i++)
		assert_int_equal(numtab_add(numbers, numbers, &number), 0);
}

TEST(each_qp_and_srq_that_the_limits_allow_gets_a_number)
{
	static struct hca_machine machine;
	struct settings settings = settings_default;

	settings.limits.max_qp = 100;
	for (size_t i = 0; models[i]; i++) {
		settings.model = models[i];
		assert_int_equal(machine_init(&machine, &settings, 1, 0), 0);
		take_all(&machine.device[0].numbers[HCA_SRQ], machine.settings.limits.max_srq);
		take_all(&machine.device[0].qps, 100);
		machine_free(&machine);
	}
}

UNIT_MAIN(NULL, NULL)
