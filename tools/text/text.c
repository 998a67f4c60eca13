/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Text of other processes, made fit for a terminal, for JSON and for a shell. */
#include "text.h"
#include "memory.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
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

bool text_matches(const char *text, const char *pattern)
{
	return !fnmatch(pattern, text, FNM_EXTMATCH);
}

/* Ends the quotes, lets printf(1) write the byte, and begins them again; in sh and csh. */
#define ESCAPED "'\"`printf '\\%03o'`\"'"

char *text_shell_word(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=:,@%";
	char *word, *end;
	size_t length;

	if (text[0] && !text[strspn(text, plain)])
		return copy_string(text);
	word = need_memory(malloc(sizeof(ESCAPED) * strlen(text) + sizeof("''")));
	end = stpcpy(word, "'");
	for (; *text; text += length ? length : 1) {
		length = *text == '\n' ? 1 : text_character(text);
		if (*text == '\'')
			end = stpcpy(end, "'\\''");
		else if (length && *text != '!')	/* csh expands `!` inside quotes */
			end = mempcpy(end, text, length);
		else
			end += sprintf(end, ESCAPED, (unsigned int)(unsigned char)*text);
	}
	strcpy(end, "'");
	return word;
}
