/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The library keeps the registration table of its process up to date. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <compat/device.h>
#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <modern/modern.h>
#include <modern/table.h>

#include "../table/regtab_fixture.h"
#include "../common/child.h"
#include "../common/provider.h"
#include "../common/other_thread.h"

static struct ibv_context *context;
static int file;

/* By the GUID read_tables() knows the tables of this program. */
static __be64 get_guid(struct ibv_device *device)
{
	(void)device;
	return domain_key(1).guid;
}

static struct ibv_context *open_device(unsigned n)
{
	struct ibv_context *opened = provider_open(n);

	modern_table.get_device_guid = get_guid;
	return opened;
}

static int descriptor(void)
{
	return atoi(strrchr(read_tables().path, '/') + 1);
}

FIXTURE(setup)
{
	context = open_device(0);
	file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return context && file >= 0 ? 0 : -1;
}

/* The table has one member and @qps QPs. It created the first, number @created; 0: it did not. */
static void expect_table(unsigned qps, uint32_t created)
{
	struct seen seen = read_tables();

	assert_int_equal(seen.members, 1);
	assert_int_equal(seen.qps, qps);
	if (created)
		assert_int_equal(seen.qp[0], created);
	for (unsigned i = 0; i < qps; i++)
		assert_int_equal(seen.creator[i], seen.qp[i] == created ? getpid() : 0);
}

TEST(a_domain_is_seen_while_it_is_open)
{
	struct legacy_xrc_domain *domain, *again, *private;

	assert_int_equal(domain_open(context, file, O_CREAT, &domain), 0);
	assert_int_equal(domain_open(context, file, O_CREAT, &again), 0);
	assert_int_equal(domain_open(context, -1, O_CREAT, &private), 0);
	expect_table(0, 0);
	assert_int_equal(domain_close(domain), 0);
	expect_table(0, 0);
	assert_int_equal(domain_close(again), 0);
	assert_int_equal(read_tables().members, 0);
	assert_int_equal(domain_close(private), 0);
}

static struct legacy_xrc_domain *reusing;
static uint32_t created_again;

static int create_again(struct legacy_xrc_domain *domain)
{
	return rcv_qp_create(domain, &created_again);
}

static int create_after_destroy(struct ibv_qp *qp)
{
	modern_table.destroy_qp = provider_destroy_qp;
	provider_next_qp = qp->qp_num;
	begin_verb(create_again, reusing);
	return provider_destroy_qp(qp);
}

/*
 * The kernel may give the number to the next QP while the thread that destroyed the last one is
 * still in the verb.
 */
TEST(a_reused_number_is_seen)
{
	uint32_t number;

	assert_int_equal(domain_open(context, file, O_CREAT, &reusing), 0);
	assert_int_equal(rcv_qp_create(reusing, &number), 0);
	modern_table.destroy_qp = create_after_destroy;
	assert_int_equal(rcv_qp_unregister(reusing, number), 0);
	assert_int_equal(end_verb(), 0);
	assert_int_equal(created_again, number);
	expect_table(1, number);
	assert_int_equal(rcv_qp_unregister(reusing, number), 0);
	expect_table(0, 0);
	assert_int_equal(domain_close(reusing), 0);
}

static int refuse_destroy(struct ibv_qp *qp)
{
	(void)qp;
	modern_table.destroy_qp = provider_destroy_qp;
	return EBUSY;
}

TEST(a_registration_that_the_kernel_does_not_end_is_seen_once)
{
	struct legacy_xrc_domain *domain;
	uint32_t number;

	assert_int_equal(domain_open(context, file, O_CREAT, &domain), 0);
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	modern_table.destroy_qp = refuse_destroy;
	assert_int_equal(rcv_qp_unregister(domain, number), -EBUSY);
	expect_table(1, number);
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	expect_table(0, 0);
	assert_int_equal(domain_close(domain), 0);
}

static void expect_no_qp(struct ibv_qp *handle)
{
	(void)handle;
	expect_table(0, 0);
}

TEST(a_handle_that_a_query_opens_is_not_seen)
{
	struct legacy_qp_init_attr init_attr;
	struct legacy_xrc_domain *domain;
	struct legacy_qp_attr attr;

	assert_int_equal(domain_open(context, file, O_CREAT, &domain), 0);
	provider_queries = expect_no_qp;
	assert_int_equal(rcv_qp_query(domain, 0x55, &attr, IBV_QP_STATE, &init_attr), 0);
	provider_queries = NULL;
	expect_table(0, 0);
	assert_int_equal(domain_close(domain), 0);
}

TEST(a_program_may_close_all_its_descriptors)
{
	struct legacy_xrc_domain *domain;
	uint32_t number;

	assert_int_equal(domain_open(context, file, O_CREAT, &domain), 0);
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	assert_int_equal(rcv_qp_register(domain, 0x100), 0);
	close(descriptor());
	assert_int_equal(read_tables().members, 0);
	assert_int_equal(rcv_qp_unregister(domain, 0x100), 0);
	expect_table(1, number);
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(domain_close(domain), 0);
}

/* One table has the registrations of all domains. Closing the device ends those of its own. */
TEST(a_close_of_the_device_ends_its_registrations)
{
	struct ibv_context *other = open_device(1);
	struct legacy_xrc_domain *domain, *of_other;
	uint32_t number;

	assert_int_equal(domain_open(context, file, O_CREAT, &domain), 0);
	assert_int_equal(domain_open(other, file, O_CREAT, &of_other), 0);
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	assert_int_equal(rcv_qp_register(of_other, number), 0);
	assert_int_equal(read_tables().registrations, 2);
	assert_int_equal(device_close(other), 0);
	expect_table(1, number);
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(domain_close(domain), 0);
}

/* In the child: 0 if it has a table of its own, beside its parent's. */
static int open_again(void)
{
	struct legacy_xrc_domain *domain;
	struct seen seen;

	if (domain_open(context, file, O_CREAT, &domain) || rcv_qp_register(domain, 0x101))
		return 1;
	seen = read_tables();
	if (seen.members != 2)
		return 2;
	return seen.qps == 2 ? domain_close(domain) : 3;
}

TEST(a_child_that_opens_its_parents_domain_has_a_table_of_its_own)
{
	struct legacy_xrc_domain *domain;

	skip_by_qemu_user();
	assert_int_equal(domain_open(context, file, O_CREAT, &domain), 0);
	assert_int_equal(rcv_qp_register(domain, 0x100), 0);
	assert_int_equal(in_child(open_again()), 0);
	assert_int_equal(in_bare_child(open_again()), 0);
	expect_table(1, 0);
	assert_int_equal(rcv_qp_unregister(domain, 0x100), 0);
	assert_int_equal(domain_close(domain), 0);
}

UNIT_MAIN(setup, NULL)
