/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table of a domain: errors are not for ever, and none that the contract does not know reaches the program. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <compat/core/table.h>
#include <modern/table.h>

static char dir[] = "/dev/shm/table-test-XXXXXX";
static struct ibv_device device = { .name = "fake_0", .ibdev_path = "/nowhere" };
static struct ibv_context context = { .device = &device };

static __be64 get_device_guid(struct ibv_device *of)
{
	(void)of;
	return 1;
}

static int setup(void **state)
{
	(void)state;
	modern_table.get_device_guid = get_device_guid;
	return mkdtemp(dir) ? setenv("XRC_COMPAT_TABLE_DIR", dir, 1) : -1;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);	/* and nothing is left in it */
}

static void a_missing_directory_is_tried_again(void **state)
{
	struct regtab_member *member = NULL;
	struct table table;

	(void)state;
	table_init(&table, &context, true, 1, 2);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(table_join(&table, &member), -ENOMEM);		/* the cause is ENOENT */
	assert_null(table_member(&table));
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(table_join(&table, &member), -ENOMEM);		/* not yet: trying may take 2 s */
	usleep(1100000);
	assert_int_equal(table_join(&table, &member), 0);
	assert_ptr_equal(member, table_member(&table));
	table_close(&table);
}

static void a_relative_directory_is_refused(void **state)
{
	struct regtab_member *member;
	struct table table;

	(void)state;
	table_init(&table, &context, true, 1, 2);
	setenv("XRC_COMPAT_TABLE_DIR", "tables", 1);
	assert_int_equal(table_join(&table, &member), -ENOMEM);
	setenv("XRC_COMPAT_TABLE_DIR", dir, 1);
	table_close(&table);
}

static void a_removed_table_is_joined_again(void **state)
{
	struct regtab_member *member, *again;
	struct table table;

	(void)state;
	table_init(&table, &context, true, 1, 2);
	assert_int_equal(table_join(&table, &member), 0);
	assert_false(table_is_gone(&table));
	assert_int_equal(unlink(regtab_path(member)), 0);
	assert_true(table_is_gone(&table));
	usleep(1100000);
	assert_int_equal(table_join_again(&table, &again), 0);
	assert_ptr_not_equal(again, member);
	assert_false(table_is_gone(&table));
	assert_int_equal(regtab_enter(again, 7), 0);
	assert_int_equal(regtab_member_check(member), 0);	/* another thread may still be using it */
	table_close(&table);
}

static void only_errors_of_the_contract_get_out(void **state)
{
	static const int strange[] = { EPERM, EACCES, EAGAIN, ENFILE, EMFILE, EROFS, ETIMEDOUT, ESTALE, ECHILD, EFBIG, ENOSPC };
	static const int known[] = { 0, EINVAL, ENOMEM, ENOSYS };
	struct table table;

	(void)state;
	table_init(&table, &context, false, 0, 0);
	for (unsigned i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		assert_int_equal(table_error(&table, -strange[i]), -ENOMEM);
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(table_error(&table, -known[i]), -known[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_directory_is_tried_again),
		cmocka_unit_test(a_relative_directory_is_refused),
		cmocka_unit_test(a_removed_table_is_joined_again),
		cmocka_unit_test(only_errors_of_the_contract_get_out),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
