/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Takes LD_PRELOAD apart at colons and blanks, and composes it. */
#include "preload.h"
#include "elf_info.h"

#include <tools/text/memory.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

const char *preload_lib_dir(int bits)
{
	const struct elf_info program = { bits, bits == 64 ? EM_X86_64 : EM_386 };
	const char *loader = elf_info_loader(&program);
	char *real = loader ? realpath(loader, NULL) : NULL;

	if (!real)
		return NULL;
	*strrchr(real, '/') = '\0';
	return real + strlen(strncmp(real, "/usr/", 5) ? "/" : "/usr/");
}

const char *preload_expand(const char *word)
{
	const char *token = strstr(word, "${LIB}"), *lib = preload_lib_dir(OWN_BITS);
	size_t length = token ? 6 : 4;

	if (!token)
		token = strstr(word, "$LIB");
	if (!token || !lib)
		return word;
	return format_string("%.*s%s%s", (int)(token - word), word, lib, token + length);
}

char *preload_next(const char **rest)
{
	const char *start = *rest ? *rest + strspn(*rest, ": ") : "";
	size_t length = strcspn(start, ": ");
	char *word = format_string("%.*s", (int)length, start);

	*rest = start + length;
	return length ? word : NULL;
}

bool preload_can_hold(const char *path)
{
	return !strpbrk(path, ": \t\n$");
}

/* Puts @to in place of @from in a path with "/@from/xrc-compat/". NULL without such a part. */
static const char *replace_dir(const char *path, const char *from, const char *to)
{
	const char *part = format_string("/%s/xrc-compat/", from), *at = strstr(path, part);

	return at ? format_string("%.*s/%s/xrc-compat/%s", (int)(at - path), path, to,
				  at + strlen(part)) : NULL;
}

const char *preload_for_both(const char *path)
{
	static const int both[] = { 32, 64 };

	for (size_t i = 0; i < 2; i++) {
		const char *own = preload_lib_dir(both[i]), *other = preload_lib_dir(both[!i]);
		const char *there = own && other ? replace_dir(path, own, other) : NULL;
		struct elf_info elf;

		/* /usr/lib has 64-bit libraries on Arch and 32-bit ones on Fedora. */
		if (there && !elf_info_read(there, &elf) && elf.bits == both[!i])
			return replace_dir(path, own, "$LIB");
	}
	return NULL;
}

/* @value with @word at its end, unless it has that already. */
static char *with_word(char *value, const char *word)
{
	const char *rest = value, *other;

	while ((other = preload_next(&rest)) != NULL) {
		if (!strcmp(other, word))
			return value;
	}
	return format_string("%s%s%s", value, value[0] ? ":" : "", word);
}

char *preload_value(const struct string_list *libraries, bool expands)
{
	const char *rest = getenv("LD_PRELOAD"), *word;
	char *value = copy_string("");

	for (size_t i = 0; i < libraries->count; i++) {
		word = libraries->item[i];
		word = expands ? preload_expand(word) : preload_for_both(word);
		value = with_word(value, word ? word : libraries->item[i]);
	}
	while ((word = preload_next(&rest)) != NULL)
		value = with_word(value, expands ? preload_expand(word) : word);
	return value;
}
