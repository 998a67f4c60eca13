/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Lists of strings. A tool without memory for a file name ends; nobody could act on the error. */
#include "elf_info.h"
#include "tools/common/command.h"
#include "tools/common/message.h"

#include <stdlib.h>
#include <string.h>

char *copy_string(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		exit(refuse(TOOL_EXIT_REFUSED, "out of memory"));
	return copy;
}

void string_list_add(struct string_list *list, const char *text)
{
	char **grown = realloc(list->item, (list->count + 1) * sizeof(*grown));

	if (!grown)
		exit(refuse(TOOL_EXIT_REFUSED, "out of memory"));
	list->item = grown;
	list->item[list->count++] = copy_string(text);
}

bool string_list_has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!strcmp(list->item[i], text))
			return true;
	}
	return false;
}

void string_list_free(struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->item[i]);
	free(list->item);
	memset(list, 0, sizeof(*list));
}
