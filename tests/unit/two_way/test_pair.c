/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The numbers of a two-way QP by both rules, and the lock under which it gets them. */

#include <errno.h>
#include <sys/file.h>

#include <abi/legacy.h>
#include <modern/modern.h>
#include <modern/table.h>
#include <two_way/pair.h>

#include <harness/unit.h>
#include "../common/other_thread.h"
#include "../common/provider.h"

static const struct {
	const char *name;
	enum pair_rule rule;
	uint32_t initiator, target;
	bool fits;
} rows[] = {
	{ "mlx4, neighbours", PAIR_TAGGED, 0x48, 0x800049, true },
	{ "mlx4, high", PAIR_TAGGED, 0x7ffffe, 0xffffff, true },
	{ "mlx4, a number in between", PAIR_TAGGED, 0x48, 0x80004a, false },
	{ "mlx4, the target's number is the lower one", PAIR_TAGGED, 0x49, 0x800048, false },
	{ "mlx4, the neighbour wraps into the tag", PAIR_TAGGED, 0x7fffff, 0x800000, false },
	{ "mlx5, neighbours", PAIR_NEXT, 0x1a2, 0x1a3, true },
	{ "mlx5, a number in between", PAIR_NEXT, 0x1a2, 0x1a4, false },
	{ "mlx5, high: bit 23 is no tag", PAIR_NEXT, 0x8000ff, 0x800100, true },
	{ "mlx5, the last number", PAIR_NEXT, 0xffffff, 0x0, false },
	{ "hns, neighbours", PAIR_NEXT, 0x9, 0xa, true },
	{ "the same number twice", PAIR_NEXT, 0x9, 0x9, false },
};

TEST(pair_fits_by_the_numbers_of_each_row)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("  %s\n", rows[i].name);
		assert_int_equal(pair_fits(rows[i].rule, rows[i].initiator, rows[i].target),
				 rows[i].fits);
	}
}

TEST(pair_target_and_pair_visible_are_inverse)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum pair_rule rule = rows[i].rule;

		if (!rows[i].fits)
			continue;
		assert_int_equal(pair_target(rule, rows[i].initiator), rows[i].target);
		assert_int_equal(pair_visible(rule, rows[i].target), rows[i].initiator);
	}
}

static unsigned locks;

/* Answers as if another process never released its lock of the device file. */
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
	if (fd < 0) {
		errno = EBADF;
		return -1;
	}
	locks += operation == (LOCK_EX | LOCK_NB);
	errno = EWOULDBLOCK;
	return -1;
}

TEST(only_the_first_pair_waits_for_a_lock_that_is_never_free)
{
	struct ibv_pd pd = { .context = provider_open(0) };
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1 } };
	struct pair pair;

	assert_int_equal(pair_create(&pd, NULL, &attr, &pair), 0);
	pair_destroy(&pair);
	assert_true(locks > 1000);
	locks = 0;
	assert_int_equal(pair_create(&pd, NULL, &attr, &pair), 0);
	pair_destroy(&pair);
	assert_int_equal(locks, 1);
}

static struct ibv_pd pd;

static int create(struct legacy_xrc_domain *unused)
{
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1 } };
	struct pair pair;
	int err = pair_create(&pd, NULL, &attr, &pair);

	(void)unused;
	if (!err)
		pair_destroy(&pair);
	return err;
}

/* Stands in for the creation of the first QP, when this thread has the lock. */
static struct ibv_qp *create_beside_another_thread(struct ibv_pd *of, struct ibv_qp_init_attr *attr)
{
	modern_table.create_qp = provider_create_qp;
	begin_verb(create, NULL);
	assert_int_equal(other_result, NOT_RETURNED);
	return provider_create_qp(of, attr);
}

/* Both threads use one opened device, which has one descriptor with one lock. */
TEST(one_thread_at_a_time_creates_a_pair)
{
	pd.context = provider_open(0);
	modern_table.create_qp = create_beside_another_thread;
	assert_int_equal(create(NULL), 0);
	assert_int_equal(end_verb(), 0);
}

UNIT_MAIN(NULL, NULL)
