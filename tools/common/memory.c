/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Allocates memory, or ends the command. */
#include "common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *need_memory(void *memory)
{
	if (!memory)
		exit(refuse(TOOL_EXIT_REFUSED, "out of memory"));
	return memory;
}

/* The capacity of an array of @count elements is the next power of two. */
static size_t capacity(size_t count)
{
	return count ? 2 * count : 1;
}

static bool is_full(size_t count)
{
	return !(count & (count - 1));
}

/* The list shows leak checkers that the memory is in use. */
static void *keep(void *memory)
{
	static void **kept;
	static size_t count;

	need_memory(memory);
	if (is_full(count))
		kept = need_memory(reallocarray(kept, capacity(count), sizeof(*kept)));
	kept[count++] = memory;
	return memory;
}

char *copy_string(const char *text)
{
	return text ? keep(strdup(text)) : NULL;
}

char *format_string(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return keep(text);
}

void *extend(void *array, size_t count, size_t size)
{
	void *larger;

	if (!is_full(count))
		return array;
	larger = keep(calloc(capacity(count), size));
	if (count)
		memcpy(larger, array, count * size);
	return larger;
}

void string_list_add(struct string_list *list, const char *text)
{
	list->item = extend(list->item, list->count, sizeof(*list->item));
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

void *grow(void *array, size_t count, size_t size)
{
	return need_memory(reallocarray(array, count + 1, size));
}
