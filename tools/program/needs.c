/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Decides from the loader's answer what must be preloaded. */
#include "needs.h"
#include "paths.h"
#include "regular.h"
#include "starter.h"
#include "tools/common/message.h"
#include "tools/common/preload.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBIBVERBS "libibverbs.so.1"

const char *const companion_names[] = { "libibumad.so.1", "libibumad.so.2", "libibcommon.so.1",
					"libibcm.so.1", NULL };

bool libibverbs_is_old(const char *path)
{
	/* Each release of rdma-core has this symbol version, which its drivers need. */
	static const char node[] = "IBVERBS_PRIVATE_";

	return !regular_has(path, node, strlen(node));
}

static bool is_companion(const char *name)
{
	for (const char *const *companion = companion_names; *companion; companion++) {
		if (!strcmp(*companion, name))
			return true;
	}
	return false;
}

/* Whether LD_PRELOAD has a library of that name: `run` within `run`, or the user's own. */
static bool is_preloaded(const char *name)
{
	const char *rest = getenv("LD_PRELOAD"), *slash;
	char word[PATH_MAX];

	while (preload_next(&rest, false, word, sizeof(word))) {
		slash = strrchr(word, '/');
		if (slash && !strcmp(slash + 1, name))
			return true;
	}
	return false;
}

void needs_read(const struct closure *closure, struct needs *needs)
{
	/* has no RPATH, and the program's class */
	const struct loaded_object *neutral = closure_find(closure, "libc.so.6");
	const struct elf_info *kind = &closure->object[0]->elf;
	const struct loaded_object *libibverbs = closure_find(closure, LIBIBVERBS);
	struct path_candidates candidates;

	memset(needs, 0, sizeof(*needs));
	for (size_t i = 0; i < closure->missing.count; i++) {
		const char *name = closure->missing.item[i];
		const char *path = is_companion(name)
					   ? paths_companion_of(kind->bits, name, &candidates)
					   : NULL;

		if (!is_preloaded(name))
			string_list_add(path ? &needs->companion : &needs->missing,
					path ? path : name);
	}
	if (!neutral ||
	    !loader_find_system(LIBIBVERBS, kind, neutral->path, needs->system_libibverbs))
		needs->system_libibverbs[0] = '\0';
	if (libibverbs && !is_preloaded(LIBIBVERBS) &&
	    strcmp(libibverbs->path, needs->system_libibverbs) != 0 &&
	    libibverbs_is_old(libibverbs->path))
		snprintf(needs->old_libibverbs, sizeof(needs->old_libibverbs), "%s",
			 libibverbs->path);
}

void needs_free(struct needs *needs)
{
	string_list_free(&needs->companion);
	string_list_free(&needs->missing);
}

/* Says what is preloaded, and why. */
static void talk(const char *why, const char *library, const char *what)
{
	const char *verbose = getenv("XRC_COMPAT_VERBOSE");

	if (verbose && verbose[0] && strcmp(verbose, "0") != 0)
		refuse(0, "%s %s %s", library, why, what);
}

static void add_libibverbs(const char *path, const struct needs *needs, bool wanted,
			   struct string_list *libraries)
{
	const char *old = needs->old_libibverbs;

	if (needs->system_libibverbs[0] && (wanted || old[0])) {
		string_list_add(libraries, needs->system_libibverbs);
		talk("takes the place of", needs->system_libibverbs,
		     old[0] ? old : "any other libibverbs.so.1");
	} else if (old[0]) {
		refuse(0, "%s loads the old libibverbs %s, which finds no device here", path, old);
		advise("install the distribution's libibverbs (Debian: libibverbs1), which then takes its place");
	} else if (wanted) {
		refuse(0, "--system-libibverbs: this system has no libibverbs.so.1 for %s", path);
		advise("install the distribution's libibverbs (Debian: libibverbs1)");
	}
}

/*
 * @bits: of the program that gets LD_PRELOAD. A program of the other word size gets only what $LIB
 * leads to.
 */
static void add_needs(const char *path, const struct elf_info *kind, int bits,
		      bool system_libibverbs, struct string_list *libraries)
{
	char setting[PATH_MAX];
	struct closure closure;
	struct needs needs;

	closure_read(path, kind, NULL, &closure);
	needs_read(&closure, &needs);
	for (size_t i = 0; i < needs.companion.count; i++) {
		if (kind->bits != bits &&
		    !preload_for_both(needs.companion.item[i], setting, sizeof(setting)))
			continue;
		string_list_add(libraries, needs.companion.item[i]);
		talk("is preloaded for", needs.companion.item[i], path);
	}
	if (kind->bits == bits)
		add_libibverbs(path, &needs, system_libibverbs, libraries);
	needs_free(&needs);
	closure_free(&closure);
}

void needs_add_file(const char *path, const struct elf_info *kind, bool system_libibverbs,
		    struct string_list *libraries)
{
	add_needs(path, kind, kind->bits, system_libibverbs, libraries);
}

void needs_add(const struct program *program, char *const *words, bool system_libibverbs,
	       struct string_list *libraries)
{
	char path[PATH_MAX];
	struct elf_info kind;

	needs_add_file(program->binary, &program->elf, system_libibverbs, libraries);
	if (!starter_is_one(program) || !starter_find_program(program, words, path) ||
	    elf_info_read(path, &kind))
		return;
	add_needs(path, &kind, program->elf.bits, false, libraries);
	elf_info_free(&kind);
}

const char *libibverbs_for_tools(void)
{
	static char path[PATH_MAX];
	struct loader_question question = { .preload = LIBIBVERBS };
	char self[PATH_MAX];
	struct loader_answer answer;
	struct elf_info kind;
	const char *chosen = LIBIBVERBS;
	void *preloaded = dlopen(LIBIBVERBS, RTLD_LAZY | RTLD_NOLOAD);

	if (preloaded)
		dlclose(preloaded);
	if (preloaded || paths_self(self, sizeof(self)) || elf_info_read(self, &kind))
		return LIBIBVERBS;
	question.kind = &kind;
	question.object = self;
	loader_ask(&question, &answer);
	for (size_t i = 0; i < answer.name.count; i++) {
		if (!strcmp(answer.name.item[i], LIBIBVERBS) && answer.path.item[i][0] &&
		    libibverbs_is_old(answer.path.item[i]) &&
		    loader_find_system(LIBIBVERBS, &kind, self, path))
			chosen = path;
	}
	loader_answer_free(&answer);
	elf_info_free(&kind);
	return chosen;
}
