/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Finds the legacy XRC functions among imports, and their names among the strings of programs that
 * use dlsym().
 */
#include "legacy_use.h"
#include "tools/program/regular.h"

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

static const char *const ofed_functions[] = {
#define OFED_SYMBOL(name) #name,
#include "ofed_symbols.h"
#undef OFED_SYMBOL
};

static bool is_among(const char *name, const char *const *names, size_t count)
{
	while (count--) {
		if (!strcmp(name, names[count]))
			return true;
	}
	return false;
}

bool legacy_name(const char *name)
{
	return is_among(name, legacy_functions,
			sizeof(legacy_functions) / sizeof(legacy_functions[0]));
}

/* Symbols that only the interface of 2011 had; today these functions are inline or gone. */
static bool is_transitional(const char *name)
{
	return !strcmp(name, "ibv_create_xsrq") || !strcmp(name, "ibv_open_xrcd");
}

static bool was_in_ofed(const char *name)
{
	return is_among(name, ofed_functions, sizeof(ofed_functions) / sizeof(ofed_functions[0]));
}

/* Functions that only MLNX_OFED's libibverbs had beside the legacy ones. */
static bool is_later(const struct elf_import *import)
{
	if (!strncmp(import->name, "ibv_exp_", 8))
		return true;
	/*
	 * Version nodes above 1.1 are rdma-core's: the program is half ported. Functions for
	 * drivers are in none of our tables.
	 */
	return import->library && !strcmp(import->library, "libibverbs.so.1") && import->version &&
	       !strcmp(import->version, "IBVERBS_1.1") && !was_in_ofed(import->name) &&
	       strncmp(import->name, "ibv_cmd_", 8) && strcmp(import->name, "ibv_register_driver");
}

static bool is_libibverbs(const struct loaded_object *object)
{
	return object->elf.soname && !strncmp(object->elf.soname, "libibverbs.so", 13);
}

/* Whether @text stands in the file as the end of a C string. */
static bool file_has_string(const char *path, const char *text)
{
	return regular_has(path, text, strlen(text) + 1);
}

static void add_symbol(struct legacy_use *use, const struct elf_import *import,
		       const struct loaded_object *object)
{
	use->symbol = grow(use->symbol, use->count, sizeof(*use->symbol));
	use->symbol[use->count++] = (struct legacy_symbol){ import, object };
	if (use->dialect == DIALECT_NONE)
		use->dialect = DIALECT_OFED;
	if (strstr(import->name, "_xrc_rcv_qp"))
		use->direction = DIRECTION_ONE_WAY;
	else if (use->direction == DIRECTION_NONE)
		use->direction = DIRECTION_TWO_WAY;
}

/* Headers of MLNX_OFED that OFED did not have. Debugging information names them. */
static const char *later_header(const struct loaded_object *object)
{
	static const char *const headers[] = { "verbs_exp.h", "ofa_verbs.h" };

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (file_has_string(object->path, headers[i]))
			return headers[i];
	}
	return NULL;
}

/* The dialect of the objects that use the legacy functions; other libraries do not matter. */
static const char *find_later(const struct loaded_object *object)
{
	for (size_t i = 0; i < object->elf.import_count; i++) {
		if (is_later(&object->elf.import[i]))
			return object->elf.import[i].name;
	}
	return later_header(object);
}

static bool has_legacy_import(const struct elf_info *elf)
{
	for (size_t i = 0; i < elf->import_count; i++) {
		if (legacy_name(elf->import[i].name))
			return true;
	}
	return false;
}

/* A file without section headers has the names, too. */
static void read_names(const struct loaded_object *object, struct legacy_use *use)
{
	static struct elf_import named[sizeof(legacy_functions) / sizeof(legacy_functions[0])];

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		named[i].name = (char *)legacy_functions[i];
		if (file_has_string(object->path, named[i].name))
			add_symbol(use, &named[i], object);
	}
}

static void read_imports(const struct loaded_object *object, struct legacy_use *use,
			 bool *transitional)
{
	if (object->elf.bits && !object->elf.has_sections)
		read_names(object, use);
	for (size_t i = 0; i < object->elf.import_count; i++) {
		const struct elf_import *import = &object->elf.import[i];

		if (legacy_name(import->name))
			add_symbol(use, import, object);
		if (is_transitional(import->name))
			*transitional = true;
	}
}

/*
 * The loader binds a reference without a version to IBVERBS_1.0, whose device structs the eight
 * functions cannot use.
 */
static void read_opening(const struct loaded_object *object, struct legacy_use *use,
			 bool *versioned)
{
	const struct elf_import *import = elf_info_find_import(&object->elf, "ibv_open_device");

	if (import && import->version)
		*versioned = true;
	else if (import && !use->unversioned)
		use->unversioned = object;
}

static bool looks_up_at_run_time(const struct loaded_object *object)
{
	return (elf_info_find_import(&object->elf, "dlsym") ||
		elf_info_find_import(&object->elf, "dlvsym")) &&
	       !elf_info_find_import(&object->elf, first_function) &&
	       file_has_string(object->path, first_function);
}

/* Sorted by name, then in the order of loading. The order in the file is arbitrary. */
static int compare(const void *a, const void *b)
{
	const struct legacy_symbol *left = a;
	const struct legacy_symbol *right = b;
	int order = strcmp(left->import->name, right->import->name);

	return order ? order : strcmp(left->object->path, right->object->path);
}

void legacy_use_read(const struct closure *closure, struct legacy_use *use)
{
	bool transitional = false, versioned = false;

	memset(use, 0, sizeof(*use));
	for (size_t i = 0; i < closure->count; i++) {
		const struct loaded_object *object = closure->object[i];

		/* An old libibverbs contains the names of its own functions. */
		if (is_libibverbs(object))
			continue;
		read_imports(object, use, &transitional);
		read_opening(object, use, &versioned);
		if (!use->later &&
		    (has_legacy_import(&object->elf) || looks_up_at_run_time(object)))
			use->later = find_later(object);
		if (!use->run_time && looks_up_at_run_time(object))
			use->run_time = object;
	}
	if (versioned)
		use->unversioned = NULL;
	if (use->count)
		qsort(use->symbol, use->count, sizeof(*use->symbol), compare);
	if (use->run_time && !use->count) {
		use->dialect = DIALECT_OFED;
		/*
		 * Strings do not tell which functions are called. All known programs that bind by
		 * dlsym() use these.
		 */
		use->direction = file_has_string(use->run_time->path, "ibv_create_xrc_rcv_qp")
					 ? DIRECTION_ONE_WAY
					 : DIRECTION_TWO_WAY;
	}
	if (use->later)
		use->dialect = DIALECT_MLNX;
	if (transitional && use->dialect == DIALECT_NONE)
		use->dialect = DIALECT_TRANSITIONAL;
}

void legacy_use_free(struct legacy_use *use)
{
	free(use->symbol);
	memset(use, 0, sizeof(*use));
}

bool legacy_is_in_file(const char *path)
{
	/* A libibverbs of that age has these strings. */
	static const char folder[] = "infiniband_verbs", message[] = "libibverbs: ";

	return regular_has(path, folder, strlen(folder)) &&
	       regular_has(path, message, strlen(message));
}

const char *legacy_dialect_name(enum legacy_dialect dialect)
{
	static const char *const names[] = {
		[DIALECT_NONE] = NULL,
		[DIALECT_OFED] = "ofed",
		[DIALECT_MLNX] = "mlnx-ofed",
		[DIALECT_TRANSITIONAL] = "transitional",
	};

	return names[dialect];
}

const char *legacy_direction_name(enum legacy_direction direction)
{
	static const char *const names[] = {
		[DIRECTION_NONE] = NULL,
		[DIRECTION_ONE_WAY] = "one-way",
		[DIRECTION_TWO_WAY] = "two-way",
	};

	return names[direction];
}
