/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory for names and lists. It lasts until the command ends, so nobody frees it. If none is left,
 * the command says so and ends: no caller can act on the error.
 */
#ifndef XRC_COMPAT_TOOLS_MEMORY_H
#define XRC_COMPAT_TOOLS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* strdup(3); NULL stays NULL. */
char *copy_string(const char *text);

/* asprintf(3). */
char *format_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* @array of @count elements, @size bytes each, with room for one more. NULL: a new one. */
void *extend(void *array, size_t count, size_t size);

struct string_list {
	char **item;
	size_t count;
};

/* Appends a copy. */
void string_list_add(struct string_list *list, const char *text);
bool string_list_has(const struct string_list *list, const char *text);

/* reallocarray(3) for one element more. The caller frees it. */
void *grow(void *array, size_t count, size_t size);

/* Ends the command if @memory is NULL. */
void *need_memory(void *memory);

#endif
