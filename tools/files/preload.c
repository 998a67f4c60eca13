/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Takes LD_PRELOAD apart at colons and blanks, and composes it. */
#include "preload.h"
#include "lib_dir.h"
#include "memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* @word with the directory that the loader puts for $LIB. */
static char *expand_lib(char *word)
{
	const char *token = strstr(word, "${LIB}");
	size_t length = token ? 6 : 4;
	char lib[NAME_MAX];

	if (!token)
		token = strstr(word, "$LIB");
	if (!token || lib_dir(OWN_BITS, lib, sizeof(lib)))
		return word;
	return format_string("%.*s%s%s", (int)(token - word), word, lib, token + length);
}

char *preload_next(const char **rest, bool expand)
{
	const char *start = *rest ? *rest + strspn(*rest, ": ") : "";
	size_t length = strcspn(start, ": ");
	char *word = format_string("%.*s", (int)length, start);

	*rest = start + length;
	return !length ? NULL : expand ? expand_lib(word) : word;
}

bool preload_can_hold(const char *path)
{
	return !strpbrk(path, ": \t\n$");
}

char *preload_for_both(const char *path)
{
	char setting[PATH_MAX];
	int err = lib_dir_setting(path, OWN_BITS, setting, sizeof(setting));

	if (err)
		err = lib_dir_setting(path, OTHER_BITS, setting, sizeof(setting));
	return err ? NULL : copy_string(setting);
}

/* @value with @word at its end, unless it has that already. */
static char *with_word(char *value, const char *word)
{
	const char *rest = value, *other;

	while ((other = preload_next(&rest, false)) != NULL) {
		if (!strcmp(other, word))
			return value;
	}
	return format_string("%s%s%s", value, value[0] ? ":" : "", word);
}

char *preload_value(const struct string_list *libraries, bool remote)
{
	const char *rest = getenv("LD_PRELOAD"), *word;
	char *value = copy_string("");

	for (size_t i = 0; i < libraries->count; i++) {
		word = remote ? NULL : preload_for_both(libraries->item[i]);
		value = with_word(value, word ? word : libraries->item[i]);
	}
	while ((word = preload_next(&rest, remote)) != NULL)
		value = with_word(value, word);
	return value;
}
