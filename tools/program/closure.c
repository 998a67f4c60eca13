/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The loader's answer, with the ELF headers of all objects. */
#include "closure.h"
#include "regular.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(struct closure *closure, const char *path, const char *wanted)
{
	struct loaded_object *object = need_memory(calloc(1, sizeof(*object)));

	object->path = copy_string(path);
	object->wanted = copy_string(wanted);
	elf_info_read(path, &object->elf);
	closure->object = grow(closure->object, closure->count, sizeof(object));
	closure->object[closure->count++] = object;
}

const struct loaded_object *closure_find(const struct closure *closure, const char *name)
{
	for (size_t i = 1; i < closure->count; i++) {
		const struct loaded_object *object = closure->object[i];

		if (!strcmp(object->wanted, name) || !strcmp(basename(object->path), name) ||
		    (object->elf.soname && !strcmp(object->elf.soname, name)))
			return object;
	}
	return NULL;
}

/* Leaves out a path with a blank or a colon: the loader would take it for several. */
static char *joined(const struct string_list *paths)
{
	char *text = copy_string("");

	for (size_t i = 0; i < paths->count; i++) {
		char *longer;

		if (strpbrk(paths->item[i], ": $"))
			continue;
		longer = format_string("%s%s%s", text, text[0] ? ":" : "", paths->item[i]);
		free(text);
		text = longer;
	}
	return text;
}

static void ask(struct closure *closure, const char *path, const struct elf_info *kind,
		const struct string_list *plugins)
{
	char *preload = joined(plugins);
	const struct loader_question question = { .kind = kind,
						  .object = path,
						  .preload = preload };
	struct loader_answer answer;

	memset(closure, 0, sizeof(*closure));
	append(closure, path, path);
	loader_ask(&question, &answer);
	for (size_t i = 0; i < answer.name.count; i++) {
		if (answer.path.item[i][0])
			append(closure, answer.path.item[i], answer.name.item[i]);
		else if (!string_list_has(&closure->missing, answer.name.item[i]))
			string_list_add(&closure->missing, answer.name.item[i]);
	}
	closure->failure = copy_string(answer.failure);
	loader_answer_free(&answer);
	free(preload);
}

/* Open MPI keeps its transports in <libdir>/openmpi/mca_*.so. */
static void add_plugins_beside(struct string_list *plugins, const char *library)
{
	char path[2 * PATH_MAX];
	int length = (int)(strrchr(library, '/') - library);
	struct dirent *entry;
	DIR *stream;

	snprintf(path, sizeof(path), "%.*s/openmpi", length, library);
	stream = opendir(path);
	while (stream && (entry = readdir(stream))) {
		if (strncmp(entry->d_name, "mca_", 4) || !strstr(entry->d_name, ".so"))
			continue;
		snprintf(path, sizeof(path), "%.*s/openmpi/%s", length, library, entry->d_name);
		if (!string_list_has(plugins, path))
			string_list_add(plugins, path);
	}
	if (stream)
		closedir(stream);
}

static bool begins_with_any(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (!strncmp(text, *words, strlen(*words)))
			return true;
	}
	return false;
}

void closure_read(const char *path, const struct elf_info *kind, const struct string_list *plugins,
		  struct closure *closure)
{
	/*
	 * Programs link libmpi. mpirun and orted link only libopen-rte (1.3 to 4.x) or libopen-pal.
	 */
	static const char *const open_mpi[] = { "libmpi.", "libmpi_", "libopen-rte.",
						"libopen-pal.", NULL };
	struct string_list all = { 0 };

	for (size_t i = 0; plugins && i < plugins->count; i++)
		string_list_add(&all, plugins->item[i]);
	ask(closure, path, kind, &all);
	for (size_t i = 1; i < closure->count; i++) {
		if (begins_with_any(basename(closure->object[i]->path), open_mpi) &&
		    closure->object[i]->path[0] == '/')
			add_plugins_beside(&all, closure->object[i]->path);
	}
	if (all.count > (plugins ? plugins->count : 0)) {
		closure_free(closure);
		ask(closure, path, kind, &all);
	}
	string_list_free(&all);
}

bool closure_has_mpi(const struct closure *closure)
{
	static const char *const libraries[] = { "libmpi", "libopen-rte.", "libopen-pal.", NULL };
	/*
	 * Variables that MVAPICH, MVAPICH2 and Open MPI read. These MPIs are often linked
	 * statically into a program.
	 */
	static const char *const variables[] = { "VIADEV_", "MV2_USE_", "OMPI_MCA_", NULL };

	for (size_t i = 1; i < closure->count; i++) {
		if (begins_with_any(basename(closure->object[i]->path), libraries))
			return true;
	}
	for (const char *const *name = variables; closure->count && *name; name++) {
		if (regular_has(closure->object[0]->path, *name, strlen(*name)))
			return true;
	}
	return false;
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
	free(closure->failure);
	string_list_free(&closure->missing);
	memset(closure, 0, sizeof(*closure));
}
