/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Whether the program uses XRC, and what its environment was. */

#include <dlfcn.h>
#include <stdlib.h>

#include <compat/program.h>
#include <compat/settings.h>

#include "../unit.h"

TEST(program_uses_xrc_by_now_sees_a_plugin_that_was_loaded_later)
{
	assert_false(program_uses_xrc());
	assert_false(program_uses_xrc_by_now());
	assert_non_null(dlopen(XRC_PLUGIN, RTLD_LAZY));
	assert_true(program_uses_xrc_by_now());
	assert_true(program_uses_xrc());
}

/* A program may change its environment while another thread is in a verb. */
TEST(the_environment_is_read_once)
{
	setenv("XRC_COMPAT_TABLE_DIR", "/first", 1);
	settings();
	setenv("XRC_COMPAT_TABLE_DIR", "/second", 1);
	assert_string_equal(settings()->table_dir, "/first");
}

UNIT_MAIN(NULL, NULL)
