/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Walks DT_NEEDED breadth first, as the loader does, without loading anything. */
#include "closure.h"
#include "tools/common/command.h"
#include "tools/common/message.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct loaded_object *append(struct closure *closure, const char *path, const char *wanted,
				    enum library_origin origin, const struct loaded_object *requester)
{
	struct loaded_object **grown = realloc(closure->object, (closure->count + 1) * sizeof(struct loaded_object *));
	struct loaded_object *object = calloc(1, sizeof(*object));

	if (!grown || !object)
		exit(refuse(TOOL_EXIT_REFUSED, "out of memory"));
	object->path = copy_string(path);
	object->wanted = copy_string(wanted);
	object->origin = origin;
	object->requester = requester;
	grown[closure->count++] = object;
	closure->object = grown;
	return object;
}

static bool goes_by(const struct loaded_object *object, const char *name)
{
	const char *file = strrchr(object->path, '/');

	return !strcmp(object->wanted, name) || (object->elf.soname && !strcmp(object->elf.soname, name)) ||
	       !strcmp(file ? file + 1 : object->path, name);
}

const struct loaded_object *closure_find(const struct closure *closure, const char *name)
{
	for (size_t i = 1; i < closure->count; i++) {
		if (goes_by(closure->object[i], name))
			return closure->object[i];
	}
	return NULL;
}

static void add_needed(struct closure *closure, const char *name, const struct loaded_object *requester)
{
	char path[PATH_MAX];
	enum library_origin origin;
	struct loaded_object *object;

	if (closure_find(closure, name) || string_list_has(&closure->missing, name))
		return;
	origin = library_find(name, requester, path);
	if (origin == ORIGIN_NOT_FOUND) {
		string_list_add(&closure->missing, name);
		return;
	}
	object = append(closure, path, name, origin, requester);
	/* What the loader takes may be no library. It stays in the list, without imports. */
	if (elf_info_read(path, &object->elf))
		string_list_add(&closure->damaged, path);
}

/* Follows the needs of object @first and of everything that comes in meanwhile. */
static void follow(struct closure *closure, size_t first)
{
	for (size_t i = first; i < closure->count; i++) {
		const struct loaded_object *object = closure->object[i];

		for (size_t j = 0; j < object->elf.needed.count; j++)
			add_needed(closure, object->elf.needed.item[j], object);
	}
}

static int add_root(struct closure *closure, const char *path, enum library_origin origin,
		    const struct loaded_object *requester)
{
	struct elf_info elf;
	size_t first = closure->count;
	int error = elf_info_read(path, &elf);

	if (error)
		return error;
	append(closure, path, path, origin, requester)->elf = elf;
	follow(closure, first);
	return 0;
}

int closure_read(const char *path, struct closure *closure)
{
	memset(closure, 0, sizeof(*closure));
	return add_root(closure, path, ORIGIN_PATH, NULL);
}

int closure_add_plugin(struct closure *closure, const char *path)
{
	return add_root(closure, path, ORIGIN_PLUGIN, closure->object[0]);
}

/* Open MPI keeps its transports in <libdir>/openmpi/mca_*.so; those that use verbs are what matters here. */
static void add_plugins_beside(struct closure *closure, const char *library)
{
	char directory[PATH_MAX];
	char path[2 * PATH_MAX];
	char *slash;
	struct dirent *entry;
	DIR *stream;

	snprintf(directory, sizeof(directory) - sizeof("/openmpi"), "%s", library);
	slash = strrchr(directory, '/');
	if (!slash)
		return;
	strcpy(slash, "/openmpi");
	stream = opendir(directory);
	while (stream && (entry = readdir(stream))) {
		if (strncmp(entry->d_name, "mca_", 4) || !strstr(entry->d_name, ".so"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (!closure_find(closure, entry->d_name))
			closure_add_plugin(closure, path);
	}
	if (stream)
		closedir(stream);
}

/* Programs link libmpi. mpirun and orted link only libopen-rte (1.3 to 4.x) or libopen-pal. */
static bool is_of_open_mpi(const struct loaded_object *object)
{
	static const char *const names[] = { "libmpi", "libopen-rte", "libopen-pal" };
	const char *file = strrchr(object->path, '/');

	for (size_t i = 0; file && i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(file + 1, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

void closure_add_known_plugins(struct closure *closure)
{
	size_t count = closure->count; /* plugins have no plugins */

	for (size_t i = 1; i < count; i++) {
		if (is_of_open_mpi(closure->object[i]))
			add_plugins_beside(closure, closure->object[i]->path);
	}
}

void closure_free(struct closure *closure)
{
	for (size_t i = 0; i < closure->count; i++) {
		elf_info_free(&closure->object[i]->elf);
		free(closure->object[i]->path);
		free(closure->object[i]->wanted);
		free(closure->object[i]);
	}
	free(closure->object);
	string_list_free(&closure->missing);
	string_list_free(&closure->damaged);
	memset(closure, 0, sizeof(*closure));
}
