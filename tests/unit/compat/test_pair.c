/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The numbers of a two-way QP by both rules, the pauses between attempts to get them, and the lock.
 */

#include <errno.h>
#include <sys/file.h>
#include <time.h>

#include <compat/pair.h>
#include <modern/modern.h>
#include <modern/table.h>

#include "../unit.h"
#include "provider.h"

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

static unsigned pauses, attempts;

/* The pause's length must be one that the kernel accepts. */
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
	(void)left;
	assert_true(pause->tv_sec == 0 && pause->tv_nsec >= 0 && pause->tv_nsec < 1000000000);
	pauses++;
	return 0;
}

/* A pid above 2^18: multiplied by 7919, it exceeds 31 bits. */
pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void)
{
	return 271182 + (pid_t)pauses;
}

/* Another process always takes the number in between. */
static struct ibv_qp *create_misfit(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = provider_create_qp(pd, attr);

	provider_next_qp++;
	attempts++;
	return qp;
}

TEST(every_attempt_but_the_first_waits)
{
	struct ibv_pd pd = { .context = provider_open(0) };
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1 } };
	struct pair pair;

	modern_table.create_qp = create_misfit;
	pd.context->cmd_fd = -1;
	assert_int_equal(pair_create(&pd, NULL, &attr, &pair), -ERANGE);
	assert_int_equal(attempts, 64);
	assert_int_equal(pauses, 63);
}

static unsigned locks;

/* The lock of the device file: another process has it for ever. */
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

TEST(a_lock_that_stays_with_another_process_is_awaited_once)
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

UNIT_MAIN(NULL, NULL)
