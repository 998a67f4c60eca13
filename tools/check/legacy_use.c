/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Finds the names of the legacy XRC functions in a program and its libraries. Those that import a
 * function have its name, and so have those that pass it to dlsym().
 */
#include "check.h"

#include <abi/functions.h>

#include <string.h>

static const char *const legacy_functions[] = {
#define NAME(name) #name,
	ABI_LEGACY_FUNCTIONS(NAME)
#undef NAME
};

#define LEGACY_COUNT (sizeof(legacy_functions) / sizeof(legacy_functions[0]))

static void read_names(const struct loaded_object *object, struct legacy_use *use)
{
	for (size_t i = 0; i < LEGACY_COUNT; i++) {
		const char *name = legacy_functions[i];

		if (!elf_info_names(&object->elf, object->path, name))
			continue;
		string_list_add(&use->needs, format_string("%s, by %s", name, object->path));
		use->receive_qps |= strstr(name, "_xrc_rcv_qp") != NULL;
	}
	/* Only that interface had it as a symbol; today it is inline. */
	use->transitional |= elf_info_names(&object->elf, object->path, "ibv_create_xsrq");
}

void legacy_use_read(const struct closure *closure, struct legacy_use *use)
{
	/* They have the names of their own functions. */
	static const char *const providers[] = { "libibverbs.so", "libxrc-compat.so", NULL };

	memset(use, 0, sizeof(*use));
	for (size_t i = 0; i < closure->count; i++) {
		if (!object_begins_with(&closure->object[i], providers))
			read_names(&closure->object[i], use);
	}
	use->transitional &= !use->needs.count;
}

bool legacy_is_in_file(const char *path)
{
	/* A libibverbs of that age has these strings. */
	return regular_has(path, "infiniband_verbs") && regular_has(path, "libibverbs: ");
}
