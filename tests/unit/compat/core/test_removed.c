/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Somebody removes a table that is in use: the library puts all that its process has there into a new one. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <compat/domain/domain.h>
#include <compat/rcv_qp/rcv_qp.h>

#include <tools/tables/view.h>

#include "../../unit.h"
#include "../table_dir.h"
#include "provider.h"

static char path[600];
static struct ibv_context *context;

FIXTURE(setup)
{
	context = provider_open(0);
	return context ? table_dir_make() : -1;
}

static int note(void *qps, const struct regtab_view *view)
{
	*(unsigned *)qps = view->qp_count;
	snprintf(path, sizeof(path), "%s", view->path);
	return 0;
}

static unsigned seen(void)
{
	unsigned qps = 0;

	assert_int_equal(regtab_list(table_dir, note, &qps), 0);
	return qps;
}

TEST(what_was_removed_is_put_back)
{
	struct legacy_xrc_domain *domain;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	uint32_t numbers[4];

	assert_int_equal(domain_open(context, fd, O_CREAT, &domain), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rcv_qp_create(domain, &numbers[i]), 0);
	assert_int_equal(seen(), 3);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(seen(), 0);
	assert_int_equal(rcv_qp_create(domain, &numbers[3]), 0);
	assert_int_equal(seen(), 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(rcv_qp_unregister(domain, numbers[i]), 0);
	assert_int_equal(seen(), 0);
	assert_int_equal(domain_close(domain), 0);
	close(fd);
}

/*
 * A process that only registers finds out as well, though up to a second later: looking is a system call, and not made each
 * time.
 */
TEST(who_only_registers_puts_it_back)
{
	struct legacy_xrc_domain *domain, *other;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_int_equal(domain_open(context, fd, O_CREAT, &domain), 0);
	assert_int_equal(domain_open(provider_open(1), fd, O_CREAT, &other), 0);
	for (uint32_t number = 0x100; number < 0x103; number++)
		assert_int_equal(rcv_qp_register(domain, number) | rcv_qp_register(other, number), 0);
	assert_int_equal(seen(), 3);
	assert_int_equal(unlink(path), 0);
	pass_a_second();
	assert_int_equal(rcv_qp_unregister(domain, 0x100), 0);
	assert_int_equal(rcv_qp_register(domain, 0x100), 0);
	assert_int_equal(seen(), 3);
	for (uint32_t number = 0x100; number < 0x103; number++)
		assert_int_equal(rcv_qp_unregister(domain, number) | rcv_qp_unregister(other, number), 0);
	assert_int_equal(domain_close(domain) | domain_close(other), 0);
	close(fd);
}

UNIT_MAIN(setup, table_dir_remove,
	UNIT(what_was_removed_is_put_back), UNIT(who_only_registers_puts_it_back))
