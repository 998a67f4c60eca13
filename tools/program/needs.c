/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Decides from the loader's answer what must be preloaded. */
#include "needs.h"
#include "libibverbs.h"

#include <tools/files/paths.h>
#include <tools/files/preload.h>
#include <tools/files/regular.h>
#include <tools/text/message.h>
#include <tools/text/text.h>

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define LIBIBVERBS_OPENED "libibverbs.so"

const struct companion companions[] = {
	{ "libibumad.so.1" }, { "libibumad.so.2" }, { "libibcommon.so.1" }, { "libibcm.so.1" },
	{ LIBIBVERBS_OPENED, LIBIBVERBS, "MV2_LIBIBVERBS_PATH" },
	{ "librdmacm.so", "librdmacm.so.1", "MV2_LIBRDMACM_PATH" },
	{ "libibumad.so", "libibumad.so.3", "MV2_LIBIBUMAD_PATH" },
	{ "libibmad.so", "libibmad.so.5", "MV2_LIBIBMAD_PATH" },
	{ 0 },
};

bool is_platform_mpi(const char *path)
{
	return regular_has(path, "MPI_ICLIB_IBV") || regular_has(path, "MPI_ICMOD_IBV");
}

bool ib_core_is_listed(void)
{
	return regular_number("/proc/modules", "ib_core ", 10) > 0;	/* its size */
}

/* The path of our library of that name; NULL if we have none. */
static const char *companion_path(const char *name, int bits)
{
	return paths_library(bits, format_string("companions/%s", name));
}

void needs_add_interposers(struct string_list *libraries)
{
	const char *rest = getenv("LD_PRELOAD"), *word, *path;

	while ((word = preload_next(&rest)) != NULL) {
		path = preload_expand(word);
		if (!text_matches(path, "*/lib@(ibverbs|xrc-compat|xrc-trace).so*") &&
		    regular_has(path, "ibv_create_qp"))
			string_list_add(libraries, word);
	}
}

/* Whether LD_PRELOAD has a path of that name. A bare name may lead to an old library. */
static bool is_preloaded(const char *name)
{
	const char *rest = getenv("LD_PRELOAD"), *word;

	while ((word = preload_next(&rest)) != NULL) {
		if (strchr(word, '/') && !strcmp(basename(word), name))
			return true;
	}
	return false;
}

/* Moves names of companions from @missing to @found, as paths. Drops names that are preloaded. */
static void sort_missing(struct string_list *missing, int bits, struct string_list *found)
{
	const struct string_list names = *missing;

	*missing = (struct string_list){ 0 };
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.item[i], *path = companion_path(name, bits);

		if (!is_preloaded(name))
			string_list_add(path ? found : missing, path ? path : name);
	}
}

/* Whether the program, a library or a plugin mentions the name. */
static bool opens(const struct closure *closure, const char *name)
{
	bool is_verbs = !strcmp(name, LIBIBVERBS_OPENED);

	EACH(object, closure->object, closure->count) {
		/* Skip this command, which contains all the names: `run` may start it again. */
		if (!strcmp(object->path, paths_self()))
			continue;
		if (elf_info_names(&object->elf, object->path, name) ||
		    (is_verbs && is_platform_mpi(object->path)))
			return true;
	}
	return false;
}

/*
 * Whether the companion helps the ELF file @object. A companion with a development name needs
 * today's library. It is superfluous, unless @anyway, if @object finds a library of that name that
 * is not old.
 */
static bool companion_serves(const struct companion *row, const char *object, bool anyway)
{
	const char *found;

	if (!row->today)
		return true;
	found = closure_library(row->name, object, false);
	if (found && !anyway &&
	    (strcmp(row->name, LIBIBVERBS_OPENED) != 0 || !libibverbs_is_old(found)))
		return false;
	/* If a library is missing that a preloaded one needs, the loader starts no program. */
	return closure_library(row->today, object, false) != NULL;
}

/* Adds our library for each development name that the program opens, or all of our libraries. */
static void add_companions(struct closure *closure, const struct preload_wish *wish)
{
	const struct loaded_object *program = &closure->object[0];

	for (const struct companion *row = companions; row->name; row++) {
		const char *path = companion_path(row->name, program->elf.bits);
		/* If the loader hangs (closure->unasked), do not ask it for each companion. */
		bool wanted = wish->companions || (row->today && !closure->unasked &&
						   opens(closure, row->name));

		if (wish->companions && !path)
			say("--companions: %s was not found; install xrc-compat again", row->name);
		/* Ask the loader last: that takes longer than a search of most programs. */
		if (wanted && path && !is_preloaded(row->name) &&
		    !string_list_has(&closure->companion, path) &&
		    companion_serves(row, program->path, wish->other_hosts))
			string_list_add(&closure->companion, path);
	}
}

/* The libibverbs that the loader finds for the program, at its start or when it opens it. */
static const char *find_libibverbs(const struct closure *closure)
{
	const char *program = closure->object[0].path, *found = closure_find(closure, LIBIBVERBS);

	if (found || closure->unasked || !opens(closure, LIBIBVERBS_OPENED))
		return found;
	found = closure_library(LIBIBVERBS_OPENED, program, false);
	return found ? found : closure_library(LIBIBVERBS, program, false);
}

void needs_read(struct closure *closure, const struct preload_wish *wish)
{
	int bits = closure->object[0].elf.bits;
	/* Ask on behalf of libc: it has the program's word size and no RPATH. */
	const char *libc = closure_find(closure, "libc.so.6");
	const char *found = find_libibverbs(closure);
	const char *system = libc ? closure_library(LIBIBVERBS, libc, true) : NULL;

	sort_missing(&closure->missing, bits, &closure->companion);
	sort_missing(&closure->plugin_missing, bits, &closure->companion);
	add_companions(closure, wish);
	closure->libibverbs = found;
	closure->system_libibverbs = system;
	if (found && !is_preloaded(LIBIBVERBS) && !(system && !strcmp(found, system)) &&
	    libibverbs_is_old(found))
		closure->old_libibverbs = found;
}

/* Adds @library unless @list has it. @why and @what end the sentence of XRC_COMPAT_VERBOSE. */
static void add(struct string_list *list, const char *library, const char *why, const char *what)
{
	const char *verbose = getenv("XRC_COMPAT_VERBOSE");

	if (!string_list_has(list, library))
		string_list_add(list, library);
	if (verbose && verbose[0] && verbose[0] != '0')
		say("%s %s %s", library, why, what);
}

static void add_libibverbs(const char *path, const struct closure *closure, bool wanted,
			   struct string_list *list)
{
	const char *old = closure->old_libibverbs, *system = closure->system_libibverbs;

	if (!wanted && !old)
		return;
	if (system) {
		add(list, system, "takes the place of", old ? old : "any other libibverbs.so.1");
		return;
	}
	if (old)
		say("%s loads the old libibverbs %s, which finds no device here", path, old);
	else
		say("--system-libibverbs: this system has no libibverbs.so.1 for %s", path);
	advise(LIBIBVERBS_INSTALL_ADVICE "%s", old ? ", which then takes its place" : "");
}

/* @bits: of the program that gets LD_PRELOAD. Another word size gets only what $LIB leads to. */
static void add_needs(const char *path, int bits, const struct preload_wish *wish,
		      struct string_list *libraries)
{
	struct string_list plugins = { 0 };
	struct closure closure;
	bool same;

	closure_read(path, &plugins, &closure);
	needs_read(&closure, wish);
	same = closure.object[0].elf.bits == bits;
	if (closure.unasked)
		say("%s: its libraries are not known: %s", path, closure.unasked);
	for (size_t i = 0; i < closure.companion.count; i++) {
		if (same || preload_for_both(closure.companion.item[i]))
			add(libraries, closure.companion.item[i], "is preloaded for", path);
	}
	if (same)
		add_libibverbs(path, &closure, wish->system_libibverbs, libraries);
}

void needs_add(const struct program *program, char *const *words,
	       const struct preload_wish *wish, struct string_list *libraries)
{
	const struct preload_wish found = { .other_hosts = wish->other_hosts };
	int bits = program->elf.bits;
	const char *path = starter_is_one(program) ? starter_find_program(program, words) : NULL;

	add_needs(program->binary, bits, wish, libraries);
	if (path)
		add_needs(path, bits, &found, libraries);
}

const char *needs_own_libibverbs(void)
{
	void *preloaded = dlopen(LIBIBVERBS, RTLD_LAZY | RTLD_NOLOAD);
	const char *self = paths_self(), *found;
	struct link_map *map;

	if (preloaded && !dlinfo(preloaded, RTLD_DI_LINKMAP, &map))
		return map->l_name;
	found = closure_library(LIBIBVERBS, self, false);
	if (found && libibverbs_is_old(found))
		found = closure_library(LIBIBVERBS, self, true);
	return found ? found : LIBIBVERBS;
}
