/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* text_clean(): bytes that may harm a terminal or JSON become '?'. */
#include <tools/common/common.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "../unit.h"

FIXTURE(choose_utf8)
{
	return !setlocale(LC_CTYPE, "C.UTF-8");
}

static void check(const char *text, const char *wanted)
{
	char buffer[64];

	snprintf(buffer, sizeof(buffer), "%s", text);
	text_clean(buffer);
	assert_string_equal(buffer, wanted);
}

TEST(plain_text_stays)
{
	check("", "");
	check("xrc_bench -n 4 \"a\\b\"", "xrc_bench -n 4 \"a\\b\"");
}

TEST(utf8_stays)
{
	check("gr\xc3\xbc\xc3\x9f" "e", "gr\xc3\xbc\xc3\x9f" "e");
	check("\xc2\xa0", "\xc2\xa0");
	check("\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(control_characters_are_replaced)
{
	check("\x1b[2J\a\n\x7f", "?[2J???");
	check("\xc2\x9b", "??");	/* U+009b begins an escape sequence as ESC [ does */
}

TEST(invalid_utf8_is_replaced)
{
	check("\x80\xbf\xff\xfe", "????");
	check("\xc0\xaf\xc1\xbf", "????");	/* overlong */
	check("\xe0\x9f\xbf", "???");
	check("\xf0\x8f\xbf\xbf", "????");
	check("\xed\xa0\x80", "???");		/* surrogate */
	check("\xf4\x90\x80\x80\xf5\x80\x80\x80", "????????");
	check("a\xe2\x82", "a??");		/* cut off */
	check("\xc3", "?");
	check("\xc3z", "?z");
}

UNIT_MAIN(choose_utf8, NULL)
