/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The environment is read once: a program that changes it in another thread must not race with a
 * verb.
 */

#include <stdlib.h>
#include <string.h>

#include <compat/log.h>

#include "../unit.h"

TEST(variables_are_read)
{
	setenv("XRC_COMPAT_VERBOSE", "1", 1);
	setenv("XRC_COMPAT_TWO_WAY", "never", 1);
	setenv("XRC_COMPAT_TABLE_DIR", "/first", 1);
	assert_true(settings()->verbose);
	assert_int_equal(settings()->two_way, TWO_WAY_UNKNOWN);
	assert_string_equal(settings()->two_way_text, "never");
	assert_string_equal(settings()->table_dir, "/first");
}

TEST(a_later_change_is_not_read)
{
	setenv("XRC_COMPAT_VERBOSE", "0", 1);
	setenv("XRC_COMPAT_TWO_WAY", "on", 1);
	setenv("XRC_COMPAT_TABLE_DIR", "/second", 1);
	assert_true(settings()->verbose);
	assert_int_equal(settings()->two_way, TWO_WAY_UNKNOWN);
	assert_string_equal(settings()->table_dir, "/first");
}

UNIT_MAIN(NULL, NULL)
