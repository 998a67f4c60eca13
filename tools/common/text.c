/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Text of other processes, made fit for a terminal, for JSON and for a shell. */
#include "text.h"
#include "memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

size_t text_character(const char *text)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t length;

	if (*text >= ' ' && *text <= '~')	/* mbrtowc() is slow */
		return 1;
	length = mbrtowc(&wide, text, strnlen(text, MB_LEN_MAX), &state);
	return length <= MB_LEN_MAX && iswprint((wint_t)wide) ? length : 0;
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

char *text_shell_word(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=:,@%";
	char *word, *end;

	if (text[0] && !text[strspn(text, plain)])
		return copy_string(text);
	word = need_memory(malloc(4 * strlen(text) + sizeof("''")));
	end = stpcpy(word, "'");
	for (; *text; text++) {
		if (*text == '\'')
			end = stpcpy(end, "'\\'");
		*end++ = *text;
	}
	strcpy(end, "'");
	return word;
}
