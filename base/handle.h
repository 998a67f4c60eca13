/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Maps from a pointer or a number that the program has to the library's object.
 *
 * Old programs pass wrong and stale pointers. The old kernel looked each handle up and refused such
 * ones with EINVAL. So the library looks a pointer up before it follows it. All calls with
 * state_lock held, except visits of a map that no other thread can reach.
 */
#ifndef BASE_HANDLE_H
#define BASE_HANDLE_H

#include <stdbool.h>
#include <sys/queue.h>

struct mapping {
	const void *key;
	void *object;
	LIST_ENTRY(mapping) link;
};

struct handle_map {
	void *root;		/* of a tree of the C library */
	LIST_HEAD(, mapping) all;
};

/*
 * Enters an object. Returns 0, or -ENOMEM. A key that is there already gets the new object: a
 * provider may reuse an address before the thread that ended the old object calls handle_remove().
 */
int handle_set(struct handle_map *map, const void *key, void *object);

/* Returns the object, or NULL. */
void *handle_find(struct handle_map *map, const void *key);

/* Takes the key out, if it still belongs to this object. */
void handle_remove(struct handle_map *map, const void *key, const void *object);

/* Takes this mapping out. */
void handle_take(struct handle_map *map, struct mapping *mapping);

/* Visits every mapping of a map; the body may take it out. */
#define HANDLE_EACH(mapping, map)						\
	for (struct mapping *mapping = LIST_FIRST(&(map)->all), *next_;		\
	     mapping && (next_ = LIST_NEXT(mapping, link), true); mapping = next_)

#endif
