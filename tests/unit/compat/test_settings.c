/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The environment is read once, because a program may change it while a thread is in a verb. */

#include <stdlib.h>

#include <compat/settings.h>

#include "../unit.h"

static void set_variables(const char *verbose, const char *two_way, const char *table_dir)
{
	setenv("XRC_COMPAT_VERBOSE", verbose, 1);
	setenv("XRC_COMPAT_TWO_WAY", two_way, 1);
	setenv("XRC_COMPAT_TABLE_DIR", table_dir, 1);
}

TEST(variables_are_read_once)
{
	set_variables("1", "never", "/first");
	settings();
	set_variables("0", "on", "/second");
	assert_true(settings()->verbose);
	assert_int_equal(settings()->two_way, TWO_WAY_UNKNOWN);
	assert_string_equal(settings()->two_way_text, "never");
	assert_string_equal(settings()->table_dir, "/first");
}

UNIT_MAIN(NULL, NULL)
