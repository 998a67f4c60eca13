/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A device is closed with receive QPs registered: a forked child ends nothing of its parent, and many QPs or domains take no quadratic time. */

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <compat/device.h>
#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <modern/modern.h>
#include <modern/table.h>

#include "../unit.h"
#include "provider.h"

static unsigned *destroyed;	/* by parent and child together */
static int (*provider_destroy_qp)(struct ibv_qp *qp);

static int count_destroy(struct ibv_qp *qp)
{
	__atomic_add_fetch(destroyed, 1, __ATOMIC_RELAXED);
	return provider_destroy_qp(qp);
}

static int close_nothing(struct ibv_context *context)
{
	(void)context;
	return 0;
}

static struct ibv_context *open_counted(void)
{
	struct ibv_context *context = provider_open(0);

	assert_non_null(context);
	device_use_begin();
	provider_destroy_qp = modern_table.destroy_qp;
	modern_table.destroy_qp = count_destroy;
	modern_table.close_device = close_nothing;
	*destroyed = 0;
	return context;
}

static void register_with(struct ibv_context *context, unsigned count)
{
	struct legacy_xrc_domain *domain;
	uint32_t number;

	assert_int_equal(domain_open(context, -1, 0, &domain), 0);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(rcv_qp_create(domain, &number), 0);
}

/* The kernel ended a registration with the last descriptor of the device, and the parent still has one. */
TEST(a_child_ends_nothing_of_its_parent)
{
	struct ibv_context *context = open_counted();

	register_with(context, 3);
	assert_int_equal(in_child(device_close(context) || *destroyed), 0);
	assert_int_equal(*destroyed, 0);
	assert_int_equal(device_close(context), 0);
	assert_int_equal(*destroyed, 3);
}

static int64_t time_to_close(void (*fill)(struct ibv_context *context, unsigned count), unsigned count)
{
	struct ibv_context *context = open_counted();
	struct timespec before, after;

	fill(context, count);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	assert_int_equal(device_close(context), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	assert_int_equal(*destroyed, count);
	return (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
}

/* A virtual machine counts what its hypervisor takes away as time of the thread that it stops. */
static int64_t least_time_to_close(void (*fill)(struct ibv_context *context, unsigned count), unsigned count)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < 5; i++) {
		int64_t took = time_to_close(fill, count);

		if (took < least)
			least = took;
	}
	return least;
}

/* Processor time is compared, so load does not matter. If each were searched for among all, five times as many would take 25 times as long; caches make it 8. */
TEST(many_receive_qps_take_their_time_only)
{
	assert_true(least_time_to_close(register_with, 10000) < 10 * least_time_to_close(register_with, 2000));
}

static void register_in_many(struct ibv_context *context, unsigned count)
{
	while (count--)
		register_with(context, 1);
}

TEST(many_domains_take_their_time_only)
{
	assert_true(least_time_to_close(register_in_many, 5000) <= 15 * least_time_to_close(register_in_many, 1000));
}

FIXTURE(setup)
{
	device_use_begin();
	destroyed = mmap(NULL, sizeof(*destroyed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return destroyed == MAP_FAILED;
}

UNIT_MAIN(setup, NULL, UNIT(a_child_ends_nothing_of_its_parent), UNIT(many_receive_qps_take_their_time_only),
	  UNIT(many_domains_take_their_time_only))
