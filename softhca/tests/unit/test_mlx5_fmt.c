/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work requests and completions byte by byte, as libmlx5 writes and reads them. */

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <softhca/model/mlx5_fmt.h>

#include <tests/unit/unit.h>
#include "wqe_bytes.h"

/* Control segment: opcode, size in 16 byte segments, what is wanted. */
static void control(uint8_t opcode, uint8_t segments, uint8_t wanted)
{
	memset(bytes, 0, sizeof(bytes));
	bytes[3] = opcode;
	put32(4, 0x123456u << 8 | segments);
	bytes[11] = wanted;
}

static int parse(enum ibv_qp_type type)
{
	return mlx5_parse_wqe(bytes, sizeof(bytes), type, &wqe);
}

TEST(units)
{
	static const uint8_t rows[][2] = { { 0, 1 }, { 1, 1 }, { 4, 1 }, { 5, 2 }, { 8, 2 }, { 9, 3 }, { 63, 16 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		control(OP_SEND, rows[i][0], 0);
		assert_int_equal(mlx5_wqe_units(bytes), rows[i][1]);
	}
}

TEST(send_of_two_pieces)
{
	control(OP_SEND_IMM, 3, 0x0a);
	put_two_pieces();
	assert_int_equal(parse(IBV_QPT_RC), 0);
	assert_int_equal(wqe.opcode, OP_SEND_IMM);
	assert_two_pieces();
}

/* Other bits of that byte are fences and no wish for a completion. */
TEST(unsignalled)
{
	control(OP_SEND, 1, 0xa0);
	assert_int_equal(parse(IBV_QPT_RC), 0);
	assert_false(wqe.signalled || wqe.solicited);
	assert_int_equal(wqe.length, 0);
}

/* The SRQ's number stands before everything else. */
TEST(xrc)
{
	control(OP_WRITE, 4, 8);
	put32(16, 0x654321);
	put64(32, 0x7000);
	put32(40, 0x99);
	sge(48, 5, 7, 8);
	assert_int_equal(parse(IBV_QPT_XRC_SEND), 0);
	assert_int_equal(wqe.srqn, 0x654321);
	assert_int_equal(wqe.remote_address, 0x7000);
	assert_int_equal(wqe.rkey, 0x99);
	assert_int_equal(wqe.length, 5);
}

TEST(atomic)
{
	control(OP_ATOMIC_CS, 4, 0);
	put_atomic();
	assert_int_equal(parse(IBV_QPT_RC), 0);
	assert_atomic();
}

/* In one piece, whatever lines of 64 bytes it crosses. */
TEST(inline_data)
{
	control(OP_SEND, 8, 0);
	put32(16, 0x80000000u | 100);
	for (int i = 20; i < 120; i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(parse(IBV_QPT_RC), 0);
	assert_int_equal(wqe.inline_length, 100);
	assert_memory_equal(wqe.inline_data, bytes + 20, 100);
}

TEST(datagram)
{
	control(OP_SEND, 5, 0);
	put32(16, 0x11111111);
	put32(24, 0x80000777u);
	bytes[28] = 0x53; /* rate and service level */
	bytes[31] = 9;
	bytes[42] = 0x12;
	bytes[43] = 64;
	put32(44, 1u << 30 | 0x34567);
	bytes[48] = 0xfe;
	sge(64, 5, 7, 8);
	assert_int_equal(parse(IBV_QPT_UD), 0);
	assert_int_equal(wqe.av.qkey, 0x11111111);
	assert_int_equal(wqe.av.qpn, 0x777);
	assert_int_equal(wqe.av.dlid, 9);
	assert_int_equal(wqe.av.sl, 3);
	assert_true(wqe.av.global);
	assert_int_equal(wqe.av.traffic_class, 0x12);
	assert_int_equal(wqe.av.hop_limit, 64);
	assert_int_equal(wqe.av.flow_label, 0x34567);
	assert_int_equal(wqe.av.dgid[0], 0xfe);
	assert_int_equal(wqe.length, 5);
}

TEST(impossible)
{
	static const uint8_t unknown[] = { 0x01, 0x0e, 0x25, 0x28, 0x2f, 0xff };

	control(OP_SEND, 0, 0); /* not even a control segment */
	assert_int_equal(parse(IBV_QPT_RC), -EINVAL);
	control(OP_SEND, 17, 0); /* longer than what was posted */
	assert_int_equal(parse(IBV_QPT_RC), -EINVAL);
	for (size_t i = 0; i < sizeof(unknown); i++) {
		control(unknown[i], 4, 0);
		assert_int_equal(parse(IBV_QPT_RC), -EINVAL);
	}
	control(OP_SEND, 1, 0); /* without the number of an SRQ */
	assert_int_equal(parse(IBV_QPT_XRC_SEND), -EINVAL);
	control(OP_SEND, 3, 0); /* without a whole address */
	assert_int_equal(parse(IBV_QPT_UD), -EINVAL);
	control(OP_WRITE, 1, 0);
	assert_int_equal(parse(IBV_QPT_RC), -EINVAL);
	control(OP_READ, 6, 0);
	assert_int_equal(parse(IBV_QPT_UD), -EINVAL);
	control(OP_SEND, 2, 0); /* inline data beyond the end */
	put32(16, 0x80000000u | 13);
	assert_int_equal(parse(IBV_QPT_RC), -EINVAL);
}

/* Whatever stands in a ring: no access outside of it (run under a sanitizer), and limits that hold. */
TEST(noise)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_XRC_SEND };

	srandom(7);
	for (int round = 0; round < 100000; round++) {
		size_t size;
		uint8_t *copy;
		uint8_t head[64];

		for (size_t i = 0; i < sizeof(head); i++)
			head[i] = (uint8_t)random();
		size = 64 * (size_t)mlx5_wqe_units(head);
		copy = malloc(size);
		for (size_t i = 0; i < size; i++)
			copy[i] = i < sizeof(head) ? head[i] : (uint8_t)random();
		copy[3] = (uint8_t)(random() % 2 ? OP_SEND : random());
		if (!mlx5_parse_wqe(copy, size, types[random() % 3], &wqe)) {
			assert_true(wqe.sges <= WQE_MAX_SGE);
			assert_true(wqe.inline_length <= size);
		}
		free(copy);
	}
}

/* ---- completions ---- */

static const struct cqe received = {
	.qpn = 0x812345, .imm = 0x07000000, .remote = 0x55, .slid = 3, .sl = 2, .global = true, .byte_count = 99,
	.wqe_index = 0x1234, .send = false, .opcode = RECV_SEND_IMM, .srqn = 0x66, .user_index = 0x77,
	.timestamp = 0x0102030405060708,
};

TEST(receive_completion)
{
	const struct cqe_format format = { 64, true, 1 };
	uint8_t out[CQE_MAX_BYTES], good[64] = { 0 };

	good[23] = 3;
	memcpy(good + 24, (uint8_t[]){ 0x12, 0, 0, 0x55 }, 4);
	good[35] = 0x77;
	memcpy(good + 36, &received.imm, 4);
	good[47] = 99;
	memcpy(good + 48, (uint8_t[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, 8);
	memcpy(good + 56, (uint8_t[]){ 0, 0x81, 0x23, 0x45, 0x12, 0x34, 0, 0x31 }, 8);
	mlx5_build_cqe(&received, &format, out);
	assert_memory_equal(out, good, sizeof(good));
}

/* The second half of a long entry is the completion; without user indices it names the SRQ. */
TEST(long_entry_of_old_version)
{
	const struct cqe_format format = { 128, false, 0 };
	uint8_t out[CQE_MAX_BYTES];

	memset(out, 0xff, sizeof(out));
	mlx5_build_cqe(&received, &format, out);
	for (int i = 0; i < 64; i++)
		assert_int_equal(out[i], 0);
	assert_int_equal(out[64 + 35], 0x66);
	assert_int_equal(out[64 + 55], 8);
	assert_int_equal(out[127], 0x30);
}

TEST(send_completions)
{
	const struct cqe_format format = { 64, false, 1 };
	struct cqe cqe = { .qpn = 0x42, .send = true, .opcode = OP_READ, .wqe_index = 7, .user_index = 5, .byte_count = 8 };
	uint8_t out[CQE_MAX_BYTES];

	mlx5_build_cqe(&cqe, &format, out);
	assert_memory_equal(out + 56, ((uint8_t[]){ OP_READ, 0, 0, 0x42, 0, 7, 0, 0x00 }), 8);
	cqe.syndrome = SYNDROME_FLUSH;
	mlx5_build_cqe(&cqe, &format, out);
	assert_memory_equal(out + 54, ((uint8_t[]){ 0xf9, SYNDROME_FLUSH, OP_READ, 0, 0, 0x42, 0, 7, 0, 0xd0 }), 10);
	assert_int_equal(out[35], 5);
	assert_int_equal(out[47], 0);
	cqe.send = false;
	mlx5_build_cqe(&cqe, &format, out);
	assert_int_equal(out[63], 0xe0);
}

/*
 * A syndrome and what names the request: all else is reserved in libmlx5's struct mlx5_err_cqe, but for the vendor's code, which
 * stands where a good completion has its time.
 */
TEST(error_completions)
{
	static const uint8_t sizes[] = { 64, 128 };

	for (size_t i = 0; i < sizeof(sizes); i++) {
		const struct cqe_format format = { sizes[i], true, 1 };
		uint8_t out[CQE_MAX_BYTES], good[CQE_MAX_BYTES] = { 0 };
		struct cqe cqe = received;

		cqe.syndrome = SYNDROME_REMOTE_OP;
		good[sizes[i] - 64 + 35] = 0x77;
		memcpy(good + sizes[i] - 10, (uint8_t[]){ 0x89, SYNDROME_REMOTE_OP, 0, 0x81, 0x23, 0x45, 0x12, 0x34, 0, 0xe1 }, 10);
		memset(out, 0xff, sizeof(out));
		mlx5_build_cqe(&cqe, &format, out);
		assert_memory_equal(out, good, sizes[i]);
		cqe.send = true;
		good[sizes[i] - 8] = cqe.opcode;
		good[sizes[i] - 1] = 0xd1;
		mlx5_build_cqe(&cqe, &format, out);
		assert_memory_equal(out, good, sizes[i]);
	}
}

TEST(resize_completion)
{
	const struct cqe_format format = { 64, true, 1 };
	const struct cqe cqe = { .opcode = 5 };
	uint8_t out[CQE_MAX_BYTES];

	mlx5_build_cqe(&cqe, &format, out);
	assert_int_equal(out[63], 0x51);
}

UNIT_MAIN(NULL, NULL,
	UNIT(units), UNIT(send_of_two_pieces), UNIT(unsignalled), UNIT(xrc), UNIT(atomic), UNIT(inline_data),
	UNIT(datagram), UNIT(impossible), UNIT(noise), UNIT(receive_completion), UNIT(long_entry_of_old_version),
	UNIT(send_completions), UNIT(error_completions), UNIT(resize_completion))
