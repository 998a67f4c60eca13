/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The words of LD_PRELOAD, between colons or blanks. */
#include "preload.h"
#include "elf/lib_folder.h"

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
	snprintf(path, size, "%.*s%s%.*s", (int)(token - word), word, lib, (int)(word + length - rest), rest);
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
