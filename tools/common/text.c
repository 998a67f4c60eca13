/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Text of other processes, made fit for a terminal, for JSON and for a shell. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t text_character(const char *start)
{
	const unsigned char *text = (const unsigned char *)start;
	static const struct {
		unsigned char mask, value, least_second, most_second;
		size_t length;
	} shapes[] = {
		{ 0xff, 0xc2, 0xa0, 0xbf, 2 },	/* U+0080 to U+009f are controls */
		{ 0xe0, 0xc0, 0x80, 0xbf, 2 },
		{ 0xff, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xff, 0xed, 0x80, 0x9f, 3 },
		{ 0xf0, 0xe0, 0x80, 0xbf, 3 },
		{ 0xff, 0xf0, 0x90, 0xbf, 4 },
		{ 0xff, 0xf4, 0x80, 0x8f, 4 },
		{ 0xfc, 0xf0, 0x80, 0xbf, 4 },
	};

	if (text[0] < 0x80)
		return text[0] >= 0x20 && text[0] != 0x7f;
	if (text[0] == 0xc0 || text[0] == 0xc1)
		return 0;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if ((text[0] & shapes[i].mask) != shapes[i].value)
			continue;
		if (text[1] < shapes[i].least_second || text[1] > shapes[i].most_second)
			return 0;
		for (size_t k = 2; k < shapes[i].length; k++) {
			if ((text[k] & 0xc0) != 0x80)
				return 0;
		}
		return shapes[i].length;
	}
	return 0;
}

void text_clean(char *text)
{
	while (*text) {
		size_t length = text_character(text);

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}

static bool is_printable(const char *text)
{
	while (*text && text_character(text))
		text += text_character(text);
	return !*text;
}

char *text_shell_word(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=:,@%";
	bool printable = is_printable(text);
	char *word, *end;

	if (text[0] && !text[strspn(text, plain)])
		return copy_string(text);
	word = need_memory(malloc(4 * strlen(text) + sizeof("$''")));
	end = stpcpy(word, printable ? "'" : "$'");
	for (size_t length; *text; text += length ? length : 1) {
		length = text_character(text);
		if (!length)
			end += sprintf(end, "\\%03o", (unsigned char)*text);
		else if (printable && *text == '\'')
			end = stpcpy(end, "'\\''");
		else
			end += sprintf(end, "%s%.*s",
				       !printable && strchr("'\\", *text) ? "\\" : "", (int)length,
				       text);
	}
	strcpy(end, "'");
	return word;
}
