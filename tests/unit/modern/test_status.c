/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The results of today's verbs become 0 or -errno; the table has the functions of libibverbs. */

#include <errno.h>
#include <string.h>

#include <modern/modern.h>
#include <modern/status.h>
#include <modern/table.h>

#include <harness/unit.h>

TEST(both_conventions_become_negative_errno)
{
	errno = EBADF;
	assert_int_equal(modern_status(0), 0);
	assert_int_equal(modern_status(EINVAL), -EINVAL);
	assert_int_equal(modern_status(-1), -EBADF);
	assert_int_equal(modern_null_status(), -EBADF);
}

TEST(a_failure_without_errno_is_still_a_failure)
{
	errno = 0;
	assert_int_equal(modern_status(-1), -EIO);
	assert_int_equal(modern_null_status(), -EINVAL);
}

TEST(every_function_is_found_in_libibverbs)
{
	assert_int_equal(modern_load(), 0);
	assert_string_equal(modern_missing, "");
	assert_non_null(strstr(modern_library_path, "/libibverbs.so.1"));
	for (size_t i = 0; i < sizeof(modern_table) / sizeof(void *); i++)
		assert_non_null(((void **)&modern_table)[i]);
}

UNIT_MAIN(NULL, NULL)
