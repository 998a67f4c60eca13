/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Text of other processes, made fit for a terminal, for JSON and for a shell. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t text_character(const char *text)
{
	/* Controls, surrogates and longer codings of a character are between these. */
	static const struct {
		unsigned int first, last;
		size_t length;
	} printable[] = {
		{ 0x20, 0x7e, 1 },
		{ 0xa0, 0x7ff, 2 },
		{ 0x800, 0xd7ff, 3 },
		{ 0xe000, 0xffff, 3 },
		{ 0x10000, 0x10ffff, 4 },
	};
	unsigned int code = (unsigned char)*text;
	size_t length = code < 0xc0 ? 1 : code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4;

	if (length > 1)
		code &= length == 2 ? 0x1f : 0x0f;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	for (size_t i = 0; i < sizeof(printable) / sizeof(printable[0]); i++) {
		if (length == printable[i].length && code >= printable[i].first &&
		    code <= printable[i].last)
			return length;
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
