/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* text_clean(): bytes that may harm a terminal or JSON become '?'. */
#include <tools/text/text.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <harness/unit.h>

FIXTURE(choose_utf8)
{
	return !setlocale(LC_CTYPE, "C.UTF-8");
}

static const struct {
	const char *given, *wanted;
} texts[] = {
	{ "", "" },
	{ "xrc_bench -n 4 \"a\\b\"", "xrc_bench -n 4 \"a\\b\"" },
	{ "gr\xc3\xbc\xc3\x9f" "e", "gr\xc3\xbc\xc3\x9f" "e" },
	{ "\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "\x1b[2J\a\n\x7f", "?[2J???" },
	{ "\xc2\x9b", "??" },	/* U+009b begins an escape sequence as ESC [ does */
	/* invalid UTF-8 */
	{ "\x80\xbf\xff\xfe", "????" },
	{ "\xc0\xaf\xc1\xbf", "????" },	/* overlong */
	{ "\xed\xa0\x80", "???" },	/* surrogate */
	{ "\xf4\x90\x80\x80\xf5\x80\x80\x80", "????????" },
	{ "a\xe2\x82", "a??" },		/* cut off */
	{ "\xc3z", "?z" },
};

TEST(bytes_that_may_do_harm_are_replaced)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char buffer[64];

		snprintf(buffer, sizeof(buffer), "%s", texts[i].given);
		text_clean(buffer);
		assert_string_equal(buffer, texts[i].wanted);
	}
}

UNIT_MAIN(choose_utf8, NULL)
