/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Maps from a pointer an application holds to what stands behind it, as trees of the C library. */

#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>

#include "handle.h"

struct mapping {
	const void *key;
	void *object;
	struct mapping *next;	/* of those that are being dropped */
};

static int compare(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct mapping *)a)->key, y = (uintptr_t)((const struct mapping *)b)->key;

	return (x > y) - (x < y);
}

static struct mapping *find(struct handle_map *map, const void *key)
{
	struct mapping wanted = { .key = key };
	struct mapping **found = tfind(&wanted, &map->root, compare);

	return found ? *found : NULL;
}

/* What is entered first has the right key, but not for long: if it was new, one of the heap takes its place. */
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
	return 0;
}

void *handle_find(struct handle_map *map, const void *key)
{
	struct mapping *entry = find(map, key);

	return entry ? entry->object : NULL;
}

static void *take(struct handle_map *map, struct mapping *entry)
{
	void *object = entry->object;

	tdelete(entry, &map->root, compare);
	free(entry);
	return object;
}

void handle_remove(struct handle_map *map, const void *key, const void *object)
{
	struct mapping *entry = find(map, key);

	if (entry && entry->object == object)
		take(map, entry);
}

struct tour {
	void (*visit)(void *object, void *arg);
	void *arg;
};

static void tour_node(const void *node, VISIT which, void *closure)
{
	const struct tour *tour = closure;

	if (which == postorder || which == leaf)
		tour->visit((*(struct mapping *const *)node)->object, tour->arg);
}

void handle_each(struct handle_map *map, void (*visit)(void *object, void *arg), void *arg)
{
	struct tour tour = { .visit = visit, .arg = arg };

	twalk_r(map->root, tour_node, &tour);
}

struct search {
	bool (*match)(const void *object, const void *arg);
	const void *arg;
	struct mapping *found;
};

/* The C library gives the root away: it points to the node, which begins with what was entered. */
void *handle_any(const struct handle_map *map)
{
	return map->root ? (*(struct mapping *const *)map->root)->object : NULL;
}

static void note(const void *node, VISIT which, void *closure)
{
	struct mapping *entry = *(struct mapping *const *)node;
	struct search *search = closure;

	if ((which == postorder || which == leaf) && search->match(entry->object, search->arg)) {
		entry->next = search->found;
		search->found = entry;
	}
}

/* In one walk: a device may have tens of thousands. */
void handle_drop(struct handle_map *map, bool (*match)(const void *object, const void *arg), const void *arg,
		 void (*dropped)(void *object))
{
	struct search search = { .match = match, .arg = arg };
	struct mapping *next;

	twalk_r(map->root, note, &search);
	for (struct mapping *entry = search.found; entry; entry = next) {
		void *object;

		next = entry->next;
		object = take(map, entry);
		if (dropped)
			dropped(object);
	}
}
