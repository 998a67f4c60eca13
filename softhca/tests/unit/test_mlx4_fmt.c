/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work requests and completions byte by byte, as libmlx4 writes and reads them. */

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <softhca/model/mlx4_fmt.h>
#include <softhca/model/model.h>
#include <softhca/model/segment.h>

#include <tests/unit/unit.h>
#include "wqe_bytes.h"

/* Control segment: opcode, size in 16 byte units, flags. */
static void control(uint32_t opcode, uint8_t units, uint32_t flags)
{
	memset(bytes, 0, sizeof(bytes));
	put32(0, opcode);
	bytes[7] = units;
	put32(8, flags);
}

TEST(owner_bit_turns)
{
	assert_true(mlx4_wqe_valid(htobe32(0x0000000a), 3, 4));
	assert_false(mlx4_wqe_valid(htobe32(0x8000000a), 3, 4));
	assert_true(mlx4_wqe_valid(htobe32(0x8000000a), 4, 4));
	assert_false(mlx4_wqe_valid(htobe32(0x0000000a), 7, 4));
	assert_true(mlx4_wqe_valid(htobe32(0x0000000a), 8, 4));
}

TEST(send_of_two_pieces)
{
	control(OP_SEND_IMM, 3, 3u << 2 | 1u << 1 | 0x123456u << 8);
	put_two_pieces();
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), 0);
	assert_int_equal(wqe.opcode, OP_SEND_IMM);
	assert_int_equal(wqe.srqn, 0x123456);
	assert_two_pieces();
}

TEST(unsignalled)
{
	control(OP_SEND, 1, 0);
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), 0);
	assert_false(wqe.signalled || wqe.solicited);
	assert_int_equal(wqe.length, 0);
}

TEST(atomic)
{
	control(OP_ATOMIC_CS, 4, 0);
	put_atomic();
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), 0);
	assert_atomic();
}

/* 44 bytes fit before the line ends, the rest follows in a piece of its own. */
TEST(inline_across_a_line)
{
	control(OP_SEND, 5, 0);
	for (int i = 16; i < 128; i++)
		bytes[i] = (uint8_t)i;
	put32(16, 0x80000000u | 44);
	put32(64, 0x80000000u | 10);
	assert_int_equal(mlx4_parse_wqe(bytes, 128, false, &wqe), 0);
	assert_int_equal(wqe.inline_length, 54);
	assert_int_equal(wqe.length, 54);
	assert_memory_equal(wqe.inline_data, bytes + 20, 44);
	assert_memory_equal(wqe.inline_data + 44, bytes + 68, 10);
}

TEST(zero_length_entry)
{
	control(OP_SEND, 3, 0);
	sge(16, 0x80000000u, 7, 8);
	sge(32, 5, 7, 8);
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), 0);
	assert_int_equal(wqe.length, 5);
	assert_int_equal(wqe.sges, 1);
}

TEST(datagram)
{
	control(OP_SEND, 5, 0);
	bytes[16] = 1;
	bytes[21] = 0x80;
	bytes[23] = 9;
	put32(28, 3u << 28 | 0x12u << 20 | 0x34567);
	put32(48, 0x777);
	put32(52, 0x11111111);
	sge(64, 5, 7, 8);
	assert_int_equal(mlx4_parse_wqe(bytes, 128, true, &wqe), 0);
	assert_int_equal(wqe.av.dlid, 9);
	assert_true(wqe.av.global);
	assert_int_equal(wqe.av.sl, 3);
	assert_int_equal(wqe.av.traffic_class, 0x12);
	assert_int_equal(wqe.av.flow_label, 0x34567);
	assert_int_equal(wqe.av.qpn, 0x777);
	assert_int_equal(wqe.av.qkey, 0x11111111);
	assert_int_equal(wqe.length, 5);
}

TEST(impossible)
{
	control(OP_SEND, 0, 0); /* not even a control segment */
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), -EINVAL);
	control(OP_SEND, 5, 0); /* longer than its bytes */
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), -EINVAL);
	control(0x1f, 1, 0); /* no such operation */
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), -EINVAL);
	control(OP_WRITE, 1, 0); /* without an address */
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), -EINVAL);
	control(OP_WRITE, 3, 0); /* on a datagram queue */
	assert_int_equal(mlx4_parse_wqe(bytes, 64, true, &wqe), -EINVAL);
	control(OP_SEND, 2, 0); /* inline data beyond the end */
	put32(16, 0x80000000u | 13);
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), -EINVAL);
	control(OP_SEND, 3, 0); /* both kinds of data */
	put32(16, 0x80000000u | 12);
	sge(32, 5, 7, 8);
	assert_int_equal(mlx4_parse_wqe(bytes, 64, false, &wqe), -EINVAL);
}

/* Whatever stands in a ring: no access outside of it (run under a sanitizer), and limits that hold. */
TEST(noise)
{
	srandom(7);
	for (int round = 0; round < 100000; round++) {
		size_t size = (size_t)64 << random() % 3;
		uint8_t *copy = malloc(size);

		for (size_t i = 0; i < size; i++)
			copy[i] = (uint8_t)random();
		copy[3] = (uint8_t)(random() % 2 ? OP_SEND : random());
		if (!mlx4_parse_wqe(copy, size, random() & 1, &wqe)) {
			assert_true(wqe.sges <= WQE_MAX_SGE);
			assert_true(wqe.inline_length <= size);
		}
		free(copy);
	}
}

TEST(scatter_list_ends)
{
	struct sge list[WQE_MAX_SGE];

	memset(bytes, 0, sizeof(bytes));
	sge(0, 10, 0x2200, 1);
	sge(16, 20, 0x2300, 2);
	sge(32, 0, SEGMENT_RESERVED_KEY, 0);
	sge(48, 30, 0x2400, 3);
	assert_int_equal(segment_parse_scatter(bytes, 64, list), 2);
	assert_int_equal(segment_parse_scatter(bytes, 16, list), 1);
	assert_int_equal(list[0].length, 10);
}

TEST(completions)
{
	struct cqe cqe = {
		.qpn = 0x812345, .imm = htobe32(7), .remote = 0x55, .slid = 3, .sl = 2, .global = true, .byte_count = 99,
		.wqe_index = 0x1234, .send = false, .opcode = RECV_SEND_IMM,
	};
	uint8_t out[MLX4_CQE_SIZE];
	static const uint8_t good[MLX4_CQE_SIZE] = {
		0, 0x81, 0x23, 0x45, 0, 0, 0, 7, 0x80, 0, 0, 0x55, 0x20, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 99, 0x12, 0x34,
		0, 0, 0, 0, 0, 0x82,
	};
	static const uint8_t bad[MLX4_CQE_SIZE] = {
		0, 0x81, 0x23, 0x45, 0, 0, 0, 0, 0, 0, 0, 0x55, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0xf4, 5, 0,
		0, 0, 0x5e,
	};

	mlx4_build_cqe(&cqe, true, out);
	assert_memory_equal(out, good, sizeof(out));
	cqe.remote = 0x77;
	cqe.xrc = true;
	cqe.srqn = 0x55; /* libmlx4 looks for it where the source's number would be */
	mlx4_build_cqe(&cqe, true, out);
	assert_memory_equal(out, good, sizeof(out));
	cqe.send = true;
	cqe.syndrome = SYNDROME_FLUSH;
	cqe.timestamp = 0x010203040506; /* has no place in it */
	mlx4_build_cqe(&cqe, false, out);
	assert_memory_equal(out, bad, sizeof(out));
}

TEST(geometry)
{
	assert_int_equal(model_pow2(0), 1);
	assert_int_equal(model_pow2(16), 16);
	assert_int_equal(model_pow2(17), 32);
	assert_int_equal(mlx4_rq_stride(1), 16);
	assert_int_equal(mlx4_rq_stride(3), 64);
	assert_int_equal(mlx4_srq_stride(0), 32);
	assert_int_equal(mlx4_srq_stride(1), 32);
	assert_int_equal(mlx4_srq_stride(2), 64);
	assert_int_equal(mlx4_srq_stride(31), 512);
}

UNIT_MAIN(NULL, NULL,
	UNIT(owner_bit_turns), UNIT(send_of_two_pieces), UNIT(unsignalled), UNIT(atomic), UNIT(inline_across_a_line),
	UNIT(zero_length_entry), UNIT(datagram), UNIT(impossible), UNIT(noise), UNIT(scatter_list_ends),
	UNIT(completions), UNIT(geometry))
