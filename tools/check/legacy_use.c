/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Finds the legacy XRC functions among imports, and their names among the strings of programs that
 * use dlsym().
 */
#include "check.h"

#include <abi/functions.h>

#include <stdlib.h>
#include <string.h>

/*
 * Every legacy program needs this function. Its name, with the final 0, stands among the strings of
 * a file.
 */
static const char first_function[] = "ibv_open_xrc_domain";

static const char *const legacy_functions[] = {
#define NAME(name) #name,
	ABI_LEGACY_FUNCTIONS(NAME)
#undef NAME
};

#define LEGACY_COUNT (sizeof(legacy_functions) / sizeof(legacy_functions[0]))

bool legacy_name(const char *name)
{
	for (size_t i = 0; i < LEGACY_COUNT; i++) {
		if (!strcmp(name, legacy_functions[i]))
			return true;
	}
	return false;
}

static bool is_libibverbs(const struct loaded_object *object)
{
	return object->elf.soname && !strncmp(object->elf.soname, "libibverbs.so", 13);
}

static void add_need(struct legacy_use *use, const char *name, const struct loaded_object *object)
{
	string_list_add(&use->needs, format_string("%s, by %s", name, object->path));
	use->receive_qps |= strstr(name, "_xrc_rcv_qp") != NULL;
}

/* Whether the file wants the function. A file without section headers has only the names. */
static bool wants(const struct loaded_object *object, const char *name)
{
	if (object->elf.bits && !object->elf.has_sections)
		return regular_has(object->path, name, strlen(name) + 1);
	return elf_info_imports(&object->elf, name);
}

static void read_imports(const struct loaded_object *object, struct legacy_use *use)
{
	for (size_t i = 0; i < LEGACY_COUNT; i++) {
		if (wants(object, legacy_functions[i]))
			add_need(use, legacy_functions[i], object);
	}
	/* Only that interface had them as symbols; today they are inline or gone. */
	use->transitional |= elf_info_imports(&object->elf, "ibv_create_xsrq") ||
			     elf_info_imports(&object->elf, "ibv_open_xrcd");
}

static bool looks_up_at_run_time(const struct loaded_object *object)
{
	return (elf_info_imports(&object->elf, "dlsym") ||
		elf_info_imports(&object->elf, "dlvsym")) &&
	       !elf_info_imports(&object->elf, first_function) &&
	       regular_has(object->path, first_function, sizeof(first_function));
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Strings do not tell which functions are called. All known programs that bind by dlsym() use those
 * of receive QPs if they name them.
 */
static const char *direction_of(const struct legacy_use *use)
{
	static const char one_way[] = "ibv_create_xrc_rcv_qp";

	if (!use->needs.count && !use->run_time)
		return NULL;
	return use->receive_qps ||
			       (!use->needs.count &&
				regular_has(use->run_time->path, one_way, sizeof(one_way)))
		       ? "one-way"
		       : "two-way";
}

void legacy_use_read(const struct closure *closure, struct legacy_use *use)
{
	memset(use, 0, sizeof(*use));
	for (size_t i = 0; i < closure->count; i++) {
		const struct loaded_object *object = &closure->object[i];

		/* An old libibverbs contains the names of its own functions. */
		if (is_libibverbs(object))
			continue;
		read_imports(object, use);
		if (!use->run_time && looks_up_at_run_time(object))
			use->run_time = object;
	}
	/* The order in a file is arbitrary. */
	if (use->needs.count)
		qsort(use->needs.item, use->needs.count, sizeof(*use->needs.item), compare);
	use->transitional &= !use->needs.count && !use->run_time;
	use->direction = direction_of(use);
}

bool legacy_is_in_file(const char *path)
{
	/* A libibverbs of that age has these strings. */
	static const char folder[] = "infiniband_verbs", message[] = "libibverbs: ";

	return regular_has(path, folder, strlen(folder)) &&
	       regular_has(path, message, strlen(message));
}
