/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Symbols of a loaded library, its references, and names in strings. */

#include <string.h>

#include <elf/loaded.h>

#include <harness/unit.h>

/* The functions of sample.c. */
int sample_name(int number);
int sample_name_longer(int number);

struct search {
	const char *soname;
	struct loaded found;
};

static int match_soname(const struct loaded *loaded, void *arg)
{
	struct search *search = arg;

	if (strcmp(loaded_soname(loaded), search->soname))
		return 0;
	search->found = *loaded;
	return 1;
}

static struct loaded sample(void)
{
	struct search search = { .soname = "libsample.so" };

	assert_int_equal(loaded_each(match_soname, &search), 1);
	return search.found;
}

TEST(symbols_are_functions_that_the_library_defines)
{
	struct loaded loaded = sample();

	assert_ptr_equal(loaded_symbol(&loaded, "sample_name"), sample_name);
	assert_ptr_equal(loaded_symbol(&loaded, "sample_name_longer"), sample_name_longer);
	assert_null(loaded_symbol(&loaded, "sample_nam"));
	assert_null(loaded_symbol(&loaded, "hcreate"));		/* imported */
	assert_null(loaded_symbol(&loaded, "hdestroy"));	/* imported */
	assert_null(loaded_symbol(&loaded, "sample_at_once"));	/* data */
}

static const char *wanted;

static bool is_wanted(const char *name)
{
	return !strcmp(name, wanted);
}

static bool refers(const struct loaded *loaded, const char *name)
{
	wanted = name;
	return loaded_refers(loaded, is_wanted);
}

TEST(references_are_found_in_both_relocation_tables)
{
	struct loaded loaded = sample();

	assert_true(refers(&loaded, "hcreate"));
	assert_true(refers(&loaded, "hdestroy"));
	assert_false(refers(&loaded, "hsearch"));
	assert_false(refers(&loaded, "sample_name_longer"));
}

TEST(names_in_strings_are_mentioned_and_names_of_symbols_are_not)
{
	struct loaded loaded = sample();

	wanted = "ibv_create_xrc_rcv_qp";
	assert_true(loaded_mentions(&loaded, is_wanted));
	wanted = "ibv_sample_symbol";
	assert_false(loaded_mentions(&loaded, is_wanted));
	wanted = "ibv_reg_xrc_rcv_qp";
	assert_false(loaded_mentions(&loaded, is_wanted));
}

/* A damaged object may say that its names go on behind its segment, or have names behind them. */
TEST(nothing_is_read_behind_a_segment)
{
	static const char text[] = "ibv_post_send\0ibv_create_xrc_rcv_qp";
	const size_t behind = sizeof("ibv_post_send");
	const ElfW(Phdr) segment = {
		.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = (ElfW(Addr))text, .p_filesz = behind
	};
	const struct loaded damaged = {
		.names = text, .names_size = behind + 1, .segments = &segment, .segment_count = 1
	};

	wanted = "ibv_create_xrc_rcv_qp";
	assert_false(loaded_mentions(&damaged, is_wanted));
	assert_string_equal(loaded_name(&damaged, damaged.names_size), "");
}

int main(void)
{
	/* The call keeps the library linked. */
	if (sample_name(1) != 2)
		return 1;
	return cmocka_run_group_tests(unit_tests, NULL, NULL);
}
