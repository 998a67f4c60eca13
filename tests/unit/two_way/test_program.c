/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Whether the program uses XRC, and in which directions. Each test needs those before it: the first
 * begins the process, the second loads the plugin.
 */

#include <dlfcn.h>

#include <two_way/program.h>

#include <harness/unit.h>

TEST(a_program_is_ordinary_until_it_is_known_to_use_XRC)
{
	program_search();
	program_set_kind();
	assert_true(program_is_ordinary());
	assert_false(program_is_two_way());
	program_note_lookup("ibv_open_xrc_domain");
	program_set_kind();
	assert_false(program_is_ordinary());
}

TEST(a_plugin_is_searched_when_the_first_domain_is_opened)
{
	assert_non_null(dlopen(XRC_PLUGIN, RTLD_LAZY));
	program_note_xrc();
	assert_true(program_is_two_way());
}

TEST(a_plugin_is_seen_at_the_start_if_it_is_loaded_by_then)
{
	program_kind = PROGRAM_UNKNOWN;
	program_search();
	program_set_kind();
	assert_false(program_is_ordinary());
}

TEST(the_start_finds_XRC_even_if_a_verb_was_called_before)
{
	program_kind = PROGRAM_UNKNOWN;
	program_set_kind();
	assert_true(program_is_ordinary());
	program_search();
	assert_false(program_is_ordinary());
}

UNIT_MAIN(NULL, NULL)
