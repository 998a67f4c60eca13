/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Maps from a pointer of the program to our object: a tree for look-ups, a list for visits. */

#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>

#include "handle.h"

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

/* The tree first gets a mapping on the stack. A new key then gets one on the heap. */
int handle_add(struct handle_map *map, const void *key, void *object)
{
	struct mapping wanted = { .key = key, .object = object };
	struct mapping **there = tsearch(&wanted, &map->root, compare);
	struct mapping *made;

	if (!there)
		return -ENOMEM;
	if (*there != &wanted) {
		(*there)->object = object;
		return 0;
	}
	made = malloc(sizeof(*made));
	if (!made) {
		tdelete(&wanted, &map->root, compare);
		return -ENOMEM;
	}
	*made = wanted;
	*there = made;
	LIST_INSERT_HEAD(&map->all, made, link);
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
