/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events that wait for room come in order and whole, without those of destroyed objects. */

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <softhca/base/backlog.h>

#include <tests/unit/unit.h>

struct record {
	uint64_t element;
	uint32_t number, unused;
};

static void add(struct backlog *backlog, uint64_t element, uint32_t number)
{
	const struct record record = { .element = element, .number = number };

	assert_true(backlog_add(backlog, &record, sizeof(record)));
}

static uint32_t next(int fd)
{
	struct record record;

	assert_int_equal(read(fd, &record, sizeof(record)), sizeof(record));
	return record.number;
}

TEST(what_is_gone_is_taken_out)
{
	struct backlog backlog = { 0 };
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	for (uint32_t i = 0; i < 1000; i++)
		add(&backlog, i % 3, i);
	assert_int_equal(backlog_drop(&backlog, 1, sizeof(struct record)), 333);
	assert_int_equal(backlog_drop(&backlog, 1, sizeof(struct record)), 0);
	assert_int_equal(backlog.length, 667 * sizeof(struct record));
	backlog_flush(&backlog, ends[1], sizeof(struct record));
	assert_int_equal(backlog.length, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		if (i % 3 != 1)
			assert_int_equal(next(ends[0]), i);
	}
	close(ends[0]);
	close(ends[1]);
}

/* An event that does not fit stays, and comes next. */
TEST(no_more_than_there_is_room_for)
{
	struct backlog backlog = { 0 };
	uint32_t seen = 0;
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	for (uint32_t i = 0; i < 10000; i++)
		add(&backlog, 0, i);
	while (backlog.length) {
		backlog_flush(&backlog, ends[1], sizeof(struct record));
		assert_int_equal(next(ends[0]), seen++);
	}
	assert_true(seen > 1 && seen < 10000);
	for (; seen < 10000; seen++)
		assert_int_equal(next(ends[0]), seen);
	close(ends[0]);
	close(ends[1]);
}

UNIT_MAIN(NULL, NULL,
	UNIT(what_is_gone_is_taken_out), UNIT(no_more_than_there_is_room_for))
