/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Maps from a pointer or a number to our object: a tree for look-ups, a list for visits. */
#include "handle.h"

#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct mapping *)a)->key,
		  y = (uintptr_t)((const struct mapping *)b)->key;

	return (x > y) - (x < y);
}

static struct mapping *find_mapping(struct handle_map *map, const void *key)
{
	struct mapping wanted = { .key = key };
	struct mapping **found = tfind(&wanted, &map->root, compare);

	return found ? *found : NULL;
}

int handle_set(struct handle_map *map, const void *key, void *object)
{
	struct mapping *mapping = find_mapping(map, key);

	if (mapping) {
		mapping->object = object;
		return 0;
	}
	mapping = malloc(sizeof(*mapping));
	if (!mapping)
		return -ENOMEM;
	*mapping = (struct mapping){ .key = key, .object = object };
	if (!tsearch(mapping, &map->root, compare)) {
		free(mapping);
		return -ENOMEM;
	}
	LIST_INSERT_HEAD(&map->all, mapping, link);
	return 0;
}

void *handle_find(struct handle_map *map, const void *key)
{
	struct mapping *mapping = find_mapping(map, key);

	return mapping ? mapping->object : NULL;
}

void handle_take(struct handle_map *map, struct mapping *mapping)
{
	tdelete(mapping, &map->root, compare);
	LIST_REMOVE(mapping, link);
	free(mapping);
}

void handle_remove(struct handle_map *map, const void *key, const void *object)
{
	struct mapping *mapping = find_mapping(map, key);

	if (mapping && mapping->object == object)
		handle_take(map, mapping);
}
