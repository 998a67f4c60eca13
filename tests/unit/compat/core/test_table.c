/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table of a domain: after an error it is tried again, and the program gets no error that the contract does not have. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <compat/core/table.h>
#include <modern/table.h>

#include "../../unit.h"
#include "../table_dir.h"

static struct ibv_device device = { .name = "fake_0", .ibdev_path = "/nowhere" };
static struct ibv_context context = { .device = &device };

static __be64 get_device_guid(struct ibv_device *of)
{
	(void)of;
	return 1;
}

FIXTURE(setup)
{
	modern_table.get_device_guid = get_device_guid;
	return table_dir_make();
}

/* Joins without a directory, and again when there is one. Returns what came of the second try. */
static int join_twice(struct table *table)
{
	struct regtab_member *member = NULL;

	assert_int_equal(rmdir(table_dir), 0);
	assert_int_equal(table_join(table, &member), -ENOMEM);		/* the cause is ENOENT */
	assert_null(table_member(table));
	assert_int_equal(mkdir(table_dir, 0700), 0);
	return table_join(table, &member);
}

TEST(a_missing_directory_is_tried_again)
{
	struct regtab_member *member = NULL;
	struct table table;
	int64_t start;
	int err;

	table_init(&table, &context, true, 1, 2);
	do {	/* once more where this program was held up for a second in between */
		table_close(&table);
		start = library_ms();
		err = join_twice(&table);
	} while (!err && library_ms() - start >= 1000);
	assert_int_equal(err, -ENOMEM);		/* not yet: trying may take 4 s */
	pass_a_second();
	assert_int_equal(table_join(&table, &member), 0);
	assert_ptr_equal(member, table_member(&table));
	table_close(&table);
}

static void is_refused(const char *dir)
{
	struct regtab_member *member;
	struct table table;

	table_init(&table, &context, true, 1, 2);
	setenv("XRC_COMPAT_TABLE_DIR", dir, 1);
	assert_int_equal(table_join(&table, &member), -ENOMEM);
	setenv("XRC_COMPAT_TABLE_DIR", table_dir, 1);
	table_close(&table);
}

TEST(a_relative_directory_is_refused)
{
	is_refused("tables");
}

/* The cause is EOPNOTSUPP, which would say that the driver has no XRC. */
TEST(a_file_system_without_nameless_files_is_refused)
{
	is_refused("/sys");
}

TEST(a_removed_table_is_joined_again)
{
	struct regtab_member *member, *again;
	struct table table;

	table_init(&table, &context, true, 1, 2);
	assert_int_equal(table_join(&table, &member), 0);
	assert_false(table_is_gone(&table));
	assert_int_equal(unlink(regtab_path(member)), 0);
	assert_true(table_is_gone(&table));
	assert_int_equal(table_join_again(&table, &again), 0);
	assert_ptr_not_equal(again, member);
	assert_false(table_is_gone(&table));
	assert_int_equal(regtab_enter(again, 7), 0);
	assert_int_equal(regtab_member_check(member), 0);	/* another thread may still be using it */
	table_close(&table);
}

TEST(only_errors_of_the_contract_get_out)
{
	static const int strange[] = { EPERM, EACCES, EAGAIN, ENFILE, EMFILE, EROFS, ETIMEDOUT, ESTALE, ECHILD, EFBIG, ENOSPC,
		ENOSYS, EOPNOTSUPP };
	static const int known[] = { 0, EINVAL, ENOMEM };
	struct table table;

	table_init(&table, &context, false, 0, 0);
	for (unsigned i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		assert_int_equal(table_error(&table, -strange[i]), -ENOMEM);
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(table_error(&table, -known[i]), -known[i]);
}

UNIT_MAIN(setup, table_dir_remove,
	UNIT(a_missing_directory_is_tried_again), UNIT(a_relative_directory_is_refused),
	UNIT(a_file_system_without_nameless_files_is_refused), UNIT(a_removed_table_is_joined_again),
	UNIT(only_errors_of_the_contract_get_out))
