/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The verbs, looked up as by programs that are not linked with libibverbs: closed MPIs, and
 * MVAPICH2 2.3.
 */

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

#define LIBRARY "libibverbs.so.1"

static const struct way {
	const char *name;
	int flags;
	bool noload;			/* loaded first, then found by RTLD_NOLOAD */
	bool full_path;			/* in the variable DOOR_LIBRARY */
	bool versioned;
} ways[] = {
	{ .name = "dlsym", .flags = RTLD_NOW },
	{ .name = "dlvsym", .flags = RTLD_NOW, .versioned = true },
	{ .name = "lazy", .flags = RTLD_LAZY },
	{ .name = "local", .flags = RTLD_NOW | RTLD_LOCAL },
	{ .name = "global", .flags = RTLD_NOW | RTLD_GLOBAL },
	{ .name = "noload", .flags = RTLD_NOW, .noload = true },
	{ .name = "path", .flags = RTLD_NOW, .full_path = true },
	{ .name = "path-dlvsym", .flags = RTLD_NOW, .full_path = true, .versioned = true },
};

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(name, ways[i].name))
			return &ways[i];
	return NULL;
}

static void *open_library(const struct way *way)
{
	const char *name = way->full_path ? getenv("DOOR_LIBRARY") : LIBRARY;

	if (!name || (way->noload && !dlopen(name, way->flags)))
		return NULL;
	return dlopen(name, way->flags | (way->noload ? RTLD_NOLOAD : 0));
}

/* Verbs that never changed since the first ABI are in the first node only. */
static void *look_up(const struct way *way, void *handle, const char *name)
{
	void *found;

	if (!way->versioned)
		return dlsym(handle, name);
	found = dlvsym(handle, name, "IBVERBS_1.1");
	return found ? found : dlvsym(handle, name, "IBVERBS_1.0");
}

void table_lookup(struct verbs *verbs, const char *name)
{
	const struct way *way = find_way(name);
	void *handle = way ? open_library(way) : NULL, *found;

	if (!handle) {
		printf("lookup: no way %s: %s\n", name, dlerror());
		exit(1);
	}
#define X(verb) \
	found = look_up(way, handle, "ibv_" #verb); \
	if (!found) { \
		printf("lookup: %s\n", dlerror()); \
		exit(1); \
	} \
	memcpy(&verbs->verb, &found, sizeof(found));
	EXCHANGE_VERBS(X)
#undef X
}
