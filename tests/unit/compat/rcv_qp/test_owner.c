/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A device keeps a receive QP for another: what its adapter answers, and what it still has open when the program has closed it. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <compat/device/device.h>
#include <compat/domain/domain.h>
#include <compat/rcv_qp/rcv_qp.h>
#include <compat/rcv_qp/rcv_qp_attr.h>
#include <modern/table.h>

#include "../../unit.h"
#include "../table_dir.h"
#include "provider.h"

static FILE *files[2];
static struct ibv_context *owner, *other;
static struct legacy_xrc_domain *domain, *domain_of_other;
static uint32_t number;
static int answer;
static bool slow;
static unsigned opened;

static struct ibv_xrcd *count_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	static struct ibv_xrcd xrcd;

	(void)context;
	(void)attr;
	__atomic_add_fetch(&opened, 1, __ATOMIC_SEQ_CST);
	return &xrcd;
}

static int count_close(struct ibv_xrcd *xrcd)
{
	(void)xrcd;
	__atomic_sub_fetch(&opened, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr)
{
	(void)qp;
	(void)attr;
	(void)mask;
	(void)init_attr;
	if (__atomic_load_n(&slow, __ATOMIC_RELAXED))
		usleep(2500000);
	return __atomic_load_n(&answer, __ATOMIC_RELAXED);
}

static int close_nothing(struct ibv_context *context)
{
	(void)context;
	return 0;
}

/* Two devices in one domain: the one makes a QP, the other is registered with it. */
FIXTURE(setup)
{
	owner = provider_open(0, false);
	other = provider_open(1, false);
	modern_table.open_xrcd = count_open;
	modern_table.close_xrcd = count_close;
	modern_table.query_qp = query_qp;
	modern_table.close_device = close_nothing;
	for (int i = 0; i < 2; i++)
		files[i] = tmpfile();
	return table_dir_make() || !files[0] || !files[1] || domain_open(owner, fileno(files[0]), O_CREAT, &domain) ||
	       domain_open(other, fileno(files[0]), 0, &domain_of_other) || rcv_qp_create(domain, &number) ||
	       rcv_qp_register(domain_of_other, number);
}

TEST(an_adapter_that_has_failed_says_so_to_all)
{
	static const int errors[] = { 0, EIO, EBUSY, EINVAL, ENOMEM };
	struct legacy_qp_init_attr init_attr;
	struct legacy_qp_attr attr;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		__atomic_store_n(&answer, errors[i], __ATOMIC_RELAXED);	/* read by the thread of the owner */
		assert_int_equal(rcv_qp_query(domain, number, &attr, 0, &init_attr), -errors[i]);
		assert_int_equal(rcv_qp_query(domain_of_other, number, &attr, 0, &init_attr), -errors[i]);
	}
}

/* One of hundreds on few processors, or on a virtual machine that stands still for seconds, is no stopped one. */
TEST(an_owner_of_seconds_is_waited_for)
{
	struct legacy_qp_init_attr init_attr;
	struct legacy_qp_attr attr;

	__atomic_store_n(&answer, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&slow, true, __ATOMIC_RELAXED);
	assert_int_equal(rcv_qp_query(domain_of_other, number, &attr, 0, &init_attr), 0);
	__atomic_store_n(&slow, false, __ATOMIC_RELAXED);
}

/* The owner's thread is done with it soon: it has left the table before. */
static void await_end_of_what_was_kept(void)
{
	for (int i = 0; i < 20000 && __atomic_load_n(&opened, __ATOMIC_SEQ_CST) != 1; i++)
		usleep(1000);
	assert_int_equal(opened, 1);
}

/* Only the domain of the QP that is kept. Another's file would otherwise have a domain as long as the other is registered. */
TEST(a_closed_device_leaves_no_domain_open_but_those_it_keeps)
{
	struct legacy_xrc_domain *unused;

	assert_int_equal(domain_open(owner, fileno(files[1]), O_CREAT, &unused), 0);
	assert_int_equal(domain_open(owner, -1, 0, &unused), 0);
	assert_int_equal(opened, 4);
	assert_int_equal(device_close(owner), 0);
	assert_int_equal(opened, 2);
	assert_int_equal(rcv_qp_unregister(domain_of_other, number), 0);
	await_end_of_what_was_kept();
	assert_int_equal(device_close(other), 0);
	assert_int_equal(opened, 0);
}

UNIT_MAIN(setup, table_dir_remove, UNIT(an_adapter_that_has_failed_says_so_to_all),
	  UNIT(an_owner_of_seconds_is_waited_for),
	  UNIT(a_closed_device_leaves_no_domain_open_but_those_it_keeps))
