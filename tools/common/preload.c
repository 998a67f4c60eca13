/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Takes LD_PRELOAD apart at colons and blanks, and composes it. */
#include "common.h"
#include "elf/lib_folder.h"

#include <stdlib.h>
#include <string.h>

static void expand_lib(const char *word, size_t length, char *path, size_t size)
{
	const char *token = memmem(word, length, "${LIB}", 6);
	const char *rest;
	char lib[NAME_MAX];

	if (!token)
		token = memmem(word, length, "$LIB", 4);
	if (!token || loader_lib(LOADER_LIB_OWN_BITS, lib, sizeof(lib))) {
		snprintf(path, size, "%.*s", (int)length, word);
		return;
	}
	rest = token + (token[1] == '{' ? 6 : 4);
	snprintf(path, size, "%.*s%s%.*s", (int)(token - word), word, lib,
		 (int)(word + length - rest), rest);
}

bool preload_next(const char **rest, bool expand, char *word, size_t size)
{
	const char *start = *rest ? *rest + strspn(*rest, ": ") : "";
	size_t length = strcspn(start, ": ");

	*rest = start + length;
	if (expand)
		expand_lib(start, length, word, size);
	else
		snprintf(word, size, "%.*s", (int)length, start);
	return length > 0;
}

bool preload_for_both(const char *path, char *setting, size_t size)
{
	return !loader_lib_setting(path, LOADER_LIB_OWN_BITS, setting, size) ||
	       !loader_lib_setting(path, LOADER_LIB_OTHER_BITS, setting, size);
}

/* @value with @word at its end, unless it has that already. */
static char *with_word(char *value, const char *word)
{
	const char *rest = value;
	char other[PATH_MAX];

	while (preload_next(&rest, false, other, sizeof(other))) {
		if (!strcmp(other, word))
			return value;
	}
	return format_string("%s%s%s", value, value[0] ? ":" : "", word);
}

char *preload_value(const struct string_list *libraries, bool remote)
{
	char *value = copy_string(""), word[PATH_MAX];
	const char *rest = getenv("LD_PRELOAD");

	for (size_t i = 0; i < libraries->count; i++)
		value = with_word(value, !remote && preload_for_both(libraries->item[i], word,
								     sizeof(word))
						 ? word
						 : libraries->item[i]);
	while (preload_next(&rest, remote, word, sizeof(word)))
		value = with_word(value, word);
	return value;
}
