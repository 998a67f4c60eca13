/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a provider's file name tells, and which releases have which fault. */

#include <gnu/libc-version.h>
#include <string.h>

#include <modern/provider.h>

#include "../unit.h"

TEST(a_file_name_tells_driver_and_release)
{
	static const struct {
		const char *path, *driver;
		unsigned release;
	} rows[] = {
		{ "/usr/lib/x86_64-linux-gnu/libmlx5.so.1.24.44.0", "mlx5", 44 },
		{ "/usr/lib64/libmlx4.so.1.0.28.0", "mlx4", 28 },
		{ "libmlx5.so.1.25.58.0", "mlx5", 58 },
		{ "/lib/libibverbs/libmlx5-rdmav34.so", "mlx5", 0 },
		{ "/lib/libibverbs/libhns-rdmav34.so", "hns", 0 },
		{ "libmlx5.so.1", "mlx5", 0 },
		{ "/opt/mlx5", "", 0 },
		{ "", "", 0 },
		{ "libwith-a-name-that-is-long.so.1.2.3.4", "with", 0 },
		{ "libnamethatismuchtoolong.so.1.2.3.4", "", 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider provider = provider_of_file(rows[i].path);

		assert_string_equal(provider.driver, rows[i].driver);
		assert_int_equal(provider.release, rows[i].release);
	}
}

static bool has(const char *driver, unsigned release, enum provider_fault_id id)
{
	struct provider provider = { .release = release };

	strcpy(provider.driver, driver);
	return provider_has(&provider, id);
}

TEST(a_detour_is_taken_exactly_where_it_is_needed)
{
	assert_false(has("mlx5", 28, PROVIDER_MLX5_DESTROY_OPENED));
	assert_false(has("mlx5", 39, PROVIDER_MLX5_DESTROY_OPENED));
	assert_true(has("mlx5", 40, PROVIDER_MLX5_DESTROY_OPENED));
	assert_true(has("mlx5", 64, PROVIDER_MLX5_DESTROY_OPENED));
	assert_true(has("mlx5", 28, PROVIDER_MLX5_RESET_OPENED));
	assert_true(has("mlx5", 64, PROVIDER_MLX5_RESET_OPENED));
	assert_true(has("mlx5", 0, PROVIDER_MLX5_DESTROY_OPENED));
	for (int id = 0; id < PROVIDER_FAULTS; id++) {
		assert_false(has("mlx4", 44, (enum provider_fault_id)id));
		assert_false(has("hns", 0, (enum provider_fault_id)id));
		assert_false(has("", 0, (enum provider_fault_id)id));
	}
}

TEST(every_fault_says_what_it_is)
{
	for (int id = 0; id < PROVIDER_FAULTS; id++) {
		assert_non_null(provider_faults[id].name);
		assert_non_null(provider_faults[id].what);
		assert_non_null(provider_faults[id].detour);
		assert_true(provider_faults[id].since > 0);
	}
}

TEST(a_function_leads_to_the_file_it_is_in)
{
	struct provider provider;

	provider = provider_of_function((const void *)gnu_get_libc_version);
	assert_string_equal(provider.driver, "c");
	provider = provider_of_function(NULL);
	assert_string_equal(provider.driver, "");
}

UNIT_MAIN(NULL, NULL,
	UNIT(a_file_name_tells_driver_and_release), UNIT(a_detour_is_taken_exactly_where_it_is_needed),
	UNIT(every_fault_says_what_it_is), UNIT(a_function_leads_to_the_file_it_is_in))
