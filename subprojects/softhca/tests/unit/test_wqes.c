/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Work requests that no provider writes. The good ones are tested by libmlx4 and libmlx5
 * themselves, in tests/e2e.
 */

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <model/model.h>
#include <model/segment.h>

#include <harness/unit.h>

#define INLINE 0x80000000u

/*
 * A work request: its opcode, the units of 16 bytes that it says it has, and the words that begin
 * its first two data segments.
 */
struct row {
	const char *what;
	uint32_t opcode;
	uint8_t units;
	enum ibv_qp_type type;
	uint32_t first, second;
};

static const struct row bad_for_both[] = {
	{ "no control segment", OP_SEND, 0, IBV_QPT_RC, 0, 0 },
	{ "longer than its bytes", OP_SEND, 17, IBV_QPT_RC, 0, 0 },
	{ "no such operation", 0x1f, 1, IBV_QPT_RC, 0, 0 },
	{ "a write without an address", OP_WRITE, 1, IBV_QPT_RC, 0, 0 },
	{ "an atomic with half of its operands", OP_ATOMIC_CS, 2, IBV_QPT_RC, 0, 0 },
	{ "a datagram without a whole address", OP_SEND, 3, IBV_QPT_UD, 0, 0 },
	{ "a write on a datagram queue", OP_WRITE, 6, IBV_QPT_UD, 0, 0 },
	{ "inline data beyond the end", OP_SEND, 2, IBV_QPT_RC, INLINE | 13, 0 },
	{ "inline data and a scatter element", OP_SEND, 3, IBV_QPT_RC, INLINE | 12, 5 },
};

/* Memory windows, invalidation and segmentation exist on real adapters. */
static const struct row bad_for_mlx5[] = {
	{ "XRC without the number of an SRQ", OP_SEND, 1, IBV_QPT_XRC_SEND, 0, 0 },
	{ "an invalidation", 0x01, 4, IBV_QPT_RC, 0, 0 },
	{ "a segmentation", 0x0e, 4, IBV_QPT_RC, 0, 0 },
	{ "a memory window", 0x25, 4, IBV_QPT_RC, 0, 0 },
};

/* Both formats have the opcode, the length and the data segments in the same places. */
static void write_request(const struct row *row, uint8_t bytes[256])
{
	uint32_t first = htobe32(row->first), second = htobe32(row->second);

	memset(bytes, 0, 256);
	bytes[3] = (uint8_t)row->opcode;
	bytes[7] = row->units;
	memcpy(bytes + 16, &first, sizeof(first));
	memcpy(bytes + 32, &second, sizeof(second));
}

static void refused_by(const struct model *model, const struct row *rows, size_t count)
{
	uint8_t bytes[256];
	struct wqe wqe;

	for (size_t i = 0; i < count; i++) {
		write_request(&rows[i], bytes);
		if (model->parse_wqe(bytes, sizeof(bytes), rows[i].type, &wqe) != -EINVAL)
			fail_msg("%s: %s", model->name, rows[i].what);
	}
}

#define ROWS(table) table, sizeof(table) / sizeof(table[0])

TEST(malformed_requests_are_refused)
{
	refused_by(&connectx3, ROWS(bad_for_both));
	refused_by(&connectx5, ROWS(bad_for_both));
	refused_by(&connectx5, ROWS(bad_for_mlx5));
}

/* The first releases of libmlx5 asked for completions of 128 bytes. */
TEST(a_completion_of_128_bytes_names_the_srq_in_its_second_half)
{
	const struct cqe_format format = { 128, false, 0 };
	const struct cqe cqe = { .opcode = RECV_SEND, .srqn = 0x66, .user_index = 0x77 };
	uint8_t out[CQE_MAX_BYTES], none[64] = { 0 };

	memset(out, 0xff, sizeof(out));
	connectx5.build_cqe(&cqe, &format, out);
	assert_memory_equal(out, none, sizeof(none));
	assert_int_equal(out[64 + 35], 0x66);
}

/*
 * Entries of an earlier, longer list remain behind the end. An element of 0 bytes is written as
 * inline data.
 */
TEST(a_scatter_list_ends_at_its_end_mark_or_its_size)
{
	const uint32_t words[][4] = {
		{ htobe32(10), htobe32(0x2200), 0, 0 }, { htobe32(INLINE), htobe32(0x2300), 0, 0 },
		{ 0, htobe32(SEGMENT_RESERVED_KEY), 0, 0 }, { htobe32(30), htobe32(0x2400), 0, 0 },
	};
	struct sge list[WQE_MAX_SGE];

	assert_int_equal(segment_parse_scatter((const uint8_t *)words, sizeof(words), list), 2);
	assert_int_equal(list[0].length, 10);
	assert_int_equal(list[1].length, 0);
	assert_int_equal(segment_parse_scatter((const uint8_t *)words, SEGMENT_BYTES, list), 1);
}

UNIT_MAIN(NULL, NULL)
