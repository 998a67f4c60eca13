/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Memory, most of which lasts until the command ends. */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Ends the command if @memory is NULL. */
void *need_memory(void *memory);

/* strdup(3); NULL stays NULL. */
char *copy_string(const char *text);

/* asprintf(3). */
char *format_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A new element at the end of @array, which has @count of them; APPEND(...) = VALUE sets it. */
#define APPEND(array, count) \
	(*((array) = extend(array, count, sizeof(*(array))), &(array)[(count)++]))

/* Visits each of the @count elements of @array, which may be NULL if there are none. */
#define EACH(element, array, count) \
	for (__typeof__(*(array)) *element = (array); (size_t)(element - (array)) < (count); \
	     element++)

/* reallocarray(3) of @array, with room for one more element. */
void *extend(void *array, size_t count, size_t size);

struct string_list {
	char **item;
	size_t count;
};

/* Appends a copy. */
void string_list_add(struct string_list *list, const char *text);
bool string_list_has(const struct string_list *list, const char *text);

#endif
