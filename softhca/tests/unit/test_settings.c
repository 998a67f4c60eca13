/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Settings: which ones are accepted and refused. A refusal changes nothing. */

#include <errno.h>
#include <string.h>

#include <softhca/machine/settings.h>

#include <tests/unit/unit.h>

static int take(struct settings *settings, const char *text)
{
	char why[512] = "";
	int err = settings_take(settings, text, why, sizeof(why));

	assert_int_equal(!err, !why[0]);
	return err;
}

TEST(takes)
{
	struct settings settings = settings_default;

	assert_int_equal(take(&settings, "devices=16"), 0);
	assert_int_equal(take(&settings, "xrc=off"), 0);
	assert_int_equal(take(&settings, "trace=/tmp/t"), 0);
	assert_int_equal(settings.devices, 16);
	assert_false(settings.xrc);
	assert_true(settings.open_qp);
	assert_string_equal(settings.trace, "/tmp/t");
}

TEST(refuses)
{
	static const struct {
		const char *text;
		int err;
	} rows[] = {
		{ "devices=17", -EINVAL }, { "devices=", -EINVAL }, { "devices=1 ", -EINVAL },
		{ "devices", -EINVAL }, { "xrc=yes", -EINVAL }, { "xrc", -EINVAL }, { "", -ENOENT },
		{ "device=1", -ENOENT }, { "xrcd=on", -ENOENT },
		{ "devices=99999999999999999999", -EINVAL }, { "trace=", -EINVAL },
	};
	struct settings settings = settings_default;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(take(&settings, rows[i].text), rows[i].err);
	assert_memory_equal(&settings, &settings_default, sizeof(settings));
}

TEST(too_long_a_text)
{
	struct settings settings = settings_default;
	char text[400] = "trace=";

	memset(text + 6, 'x', 300);
	assert_int_equal(take(&settings, text), -EINVAL);
}

/* A limit that is not set is the model's, and a larger one is refused. */
TEST(limits_are_the_models)
{
	struct settings settings = settings_default;
	char why[512] = "";

	assert_int_equal(take(&settings, "max_sge=3"), 0);
	assert_int_equal(settings_complete(&settings, why, sizeof(why)), 0);
	assert_int_equal(settings.limits.max_sge, 3);
	assert_int_equal(settings.limits.max_srq_sge, settings.model->limits.max_srq_sge);
	settings.limits.max_srq_sge++;
	assert_int_equal(settings_complete(&settings, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "max_srq_sge"));
}

UNIT_MAIN(NULL, NULL,
	UNIT(takes), UNIT(refuses), UNIT(limits_are_the_models), UNIT(too_long_a_text))
