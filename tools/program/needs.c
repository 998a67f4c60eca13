/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Decides from the loader's answer what must be preloaded. */
#include "libraries.h"
#include "paths.h"
#include "tools/common/common.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define LIBIBVERBS "libibverbs.so.1"

const char *const companion_names[] = { "libibumad.so.1", "libibumad.so.2", "libibcommon.so.1",
					"libibcm.so.1", NULL };

bool libibverbs_is_old(const char *path)
{
	/* Each release of rdma-core has this symbol version, which its drivers need. */
	return !regular_has(path, "IBVERBS_PRIVATE_");
}

/* The path of our library of that name, if it is one of companion_names. */
static const char *companion(const char *name, int bits)
{
	for (const char *const *known = companion_names; *known; known++) {
		if (!strcmp(*known, name))
			return paths_library(bits, format_string("companions/%s", name), NULL);
	}
	return NULL;
}

/* Whether LD_PRELOAD has a library of that name: `run` within `run`, or the user's own. */
static bool is_preloaded(const char *name)
{
	const char *rest = getenv("LD_PRELOAD"), *word;

	while ((word = preload_next(&rest, false)) != NULL) {
		if (strchr(word, '/') && !strcmp(basename(word), name))
			return true;
	}
	return false;
}

/* Sorts the libraries that are nowhere into companions, by their paths, and the others. */
static void sort_missing(const struct string_list *names, int bits, struct string_list *companions,
			 struct string_list *others)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->item[i], *path = companion(name, bits);

		if (!is_preloaded(name))
			string_list_add(path ? companions : others, path ? path : name);
	}
}

void needs_read(const struct closure *closure, struct needs *needs)
{
	/* has no RPATH, and the program's class */
	const struct loaded_object *libc = closure_find(closure, "libc.so.6");
	const struct elf_info *kind = &closure->object[0].elf;
	const struct loaded_object *libibverbs = closure_find(closure, LIBIBVERBS);

	memset(needs, 0, sizeof(*needs));
	sort_missing(&closure->missing, kind->bits, &needs->companion, &needs->missing);
	sort_missing(&closure->plugin_missing, kind->bits, &needs->companion,
		     &needs->plugin_missing);
	if (libc)
		needs->system_libibverbs =
			library_found(LIBIBVERBS, libc->path, kind, true);
	if (libibverbs && !is_preloaded(LIBIBVERBS) &&
	    !(needs->system_libibverbs && !strcmp(libibverbs->path, needs->system_libibverbs)) &&
	    libibverbs_is_old(libibverbs->path))
		needs->old_libibverbs = libibverbs->path;
}

/* Says what is preloaded, and why. */
static void say_why(const char *why, const char *library, const char *what)
{
	const char *verbose = getenv("XRC_COMPAT_VERBOSE");

	if (verbose && verbose[0] && strcmp(verbose, "0") != 0)
		refuse(0, "%s %s %s", library, why, what);
}

static void add_libibverbs(const char *path, const struct needs *needs, bool wanted,
			   struct string_list *libraries)
{
	const char *old = needs->old_libibverbs, *system = needs->system_libibverbs;

	if (!wanted && !old)
		return;
	if (system) {
		string_list_add(libraries, system);
		say_why("takes the place of", system, old ? old : "any other libibverbs.so.1");
		return;
	}
	if (old)
		refuse(0, "%s loads the old libibverbs %s, which finds no device here", path, old);
	else
		refuse(0, "--system-libibverbs: this system has no libibverbs.so.1 for %s", path);
	advise("install the distribution's libibverbs (Debian: libibverbs1)%s",
	       old ? ", which then takes its place" : "");
}

/*
 * @bits: of the program that gets LD_PRELOAD. A program of the other word size gets only what $LIB
 * leads to.
 */
static void add_needs(const char *path, const struct elf_info *kind, int bits,
		      const struct preload_wish *wish, struct string_list *libraries)
{
	struct closure closure;
	struct needs needs;

	closure_read(path, kind, NULL, &closure);
	needs_read(&closure, &needs);
	if (closure.unasked)
		refuse(0, "%s: its libraries are not known: %s", path, closure.unasked);
	for (size_t i = 0; i < needs.companion.count; i++) {
		if (kind->bits != bits && !preload_for_both(needs.companion.item[i]))
			continue;
		string_list_add(libraries, needs.companion.item[i]);
		say_why("is preloaded for", needs.companion.item[i], path);
	}
	if (kind->bits == bits)
		add_libibverbs(path, &needs, wish->system_libibverbs, libraries);
}

static void add_companions(int bits, struct string_list *libraries)
{
	for (const char *const *name = companion_names; *name; name++) {
		const char *path = companion(*name, bits);

		if (!path)
			refuse(0, "--companions: %s was not found; install xrc-compat again",
			       *name);
		else if (!is_preloaded(*name) && !string_list_has(libraries, path))
			string_list_add(libraries, path);
	}
}

void needs_add_file(const char *path, const struct elf_info *kind,
		    const struct preload_wish *wish, struct string_list *libraries)
{
	add_needs(path, kind, kind->bits, wish, libraries);
	if (wish->companions)
		add_companions(kind->bits, libraries);
}

void needs_add(const struct program *program, char *const *words,
	       const struct preload_wish *wish, struct string_list *libraries)
{
	const struct preload_wish nothing = { 0 };
	const char *path;
	struct elf_info kind;

	needs_add_file(program->binary, &program->elf, wish, libraries);
	path = starter_is_one(program) ? starter_find_program(program, words) : NULL;
	if (path && !elf_info_read(path, &kind))
		add_needs(path, &kind, program->elf.bits, &nothing, libraries);
}

const char *libibverbs_for_tools(void)
{
	void *preloaded = dlopen(LIBIBVERBS, RTLD_LAZY | RTLD_NOLOAD);
	const char *found;
	struct elf_info kind;
	char self[PATH_MAX];

	if (preloaded)
		dlclose(preloaded);
	if (preloaded || paths_self(self, sizeof(self)) || elf_info_read(self, &kind))
		return LIBIBVERBS;
	found = library_found(LIBIBVERBS, self, &kind, false);
	if (found && libibverbs_is_old(found))
		found = library_found(LIBIBVERBS, self, &kind, true);
	return found ? found : LIBIBVERBS;
}
