/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Whether the program uses XRC, and what its environment was. */

#include <dlfcn.h>
#include <stdlib.h>

#include <compat/program.h>
#include <compat/settings.h>

#include <harness/unit.h>

/* A program may change its environment while another thread is in a verb. */
TEST(the_environment_is_read_once)
{
	setenv("XRC_COMPAT_TABLE_DIR", "/first", 1);
	settings();
	setenv("XRC_COMPAT_TABLE_DIR", "/second", 1);
	assert_string_equal(settings()->table_dir, "/first");
}

TEST(a_program_is_ordinary_until_it_is_known_to_use_XRC)
{
	program_find_kind();
	assert_true(program_is_ordinary());
	program_note_xrc();
	program_find_kind();
	assert_false(program_is_ordinary());
}

TEST(a_plugin_is_seen_by_the_first_verb_after_it_and_by_each_XRC_QP)
{
	assert_true(program_is_two_way(false));
	assert_non_null(dlopen(XRC_PLUGIN, RTLD_LAZY));
	assert_false(program_is_two_way(false));
	program_kind = PROGRAM_UNKNOWN;
	program_find_kind();
	assert_false(program_is_ordinary());
}

UNIT_MAIN(NULL, NULL)
