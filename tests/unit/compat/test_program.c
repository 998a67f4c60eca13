/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Whether the program uses XRC. */

#include <dlfcn.h>

#include <compat/program.h>

#include "../unit.h"

TEST(program_uses_xrc_by_now_sees_a_plugin_that_was_loaded_later)
{
	assert_false(program_uses_xrc());
	assert_false(program_uses_xrc_by_now());
	assert_non_null(dlopen(XRC_PLUGIN, RTLD_LAZY));
	assert_true(program_uses_xrc_by_now());
	assert_true(program_uses_xrc());
}

UNIT_MAIN(NULL, NULL)
