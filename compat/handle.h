/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Maps from a pointer an application holds to what stands behind it.
 *
 * Old programs pass wrong and stale pointers; the old kernel looked handles up and said EINVAL. So a pointer is looked
 * up before it is followed. All calls with state_lock held.
 */
#ifndef COMPAT_HANDLE_H
#define COMPAT_HANDLE_H

#include <stdbool.h>

struct handle_map {
	void *root;
};

/**
 * handle_add - 0, or -ENOMEM. A key that is there already gets the new object: a provider may reuse an address before
 * the thread that ended the old object comes round to handle_remove().
 */
int handle_add(struct handle_map *map, const void *key, void *object);

/** handle_find - the object, or NULL. */
void *handle_find(struct handle_map *map, const void *key);

/** handle_remove - take the key out, unless it belongs to another object by now. */
void handle_remove(struct handle_map *map, const void *key, const void *object);

/** handle_each - visit every object. visit must not touch the map. */
void handle_each(struct handle_map *map, void (*visit)(void *object, void *arg), void *arg);

/** handle_any - some object of the map, or NULL if it is empty. */
void *handle_any(const struct handle_map *map);

/** handle_drop - take out all that match, each of which is then dropped (NULL: nothing is done with it). As above. */
void handle_drop(struct handle_map *map, bool (*match)(const void *object, const void *arg), const void *arg,
		 void (*dropped)(void *object));

#endif
