/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Allocates memory, or ends the command. */
#include "memory.h"
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *need_memory(void *memory)
{
	if (!memory) {
		fputs("xrc-compat: out of memory\n", stderr); /* say() would need memory */
		exit(TOOL_EXIT_REFUSED);
	}
	return memory;
}

char *copy_string(const char *text)
{
	return text ? need_memory(strdup(text)) : NULL;
}

char *format_string(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return need_memory(text);
}

void *extend(void *array, size_t count, size_t size)
{
	return need_memory(reallocarray(array, count + 1, size));
}

void string_list_add(struct string_list *list, const char *text)
{
	APPEND(list->item, list->count) = copy_string(text);
}

bool string_list_has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!strcmp(list->item[i], text))
			return true;
	}
	return false;
}
