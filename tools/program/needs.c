/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* From what the loader finds, and does not find, to what is to be preloaded. */
#include "needs.h"
#include "paths.h"
#include "regular.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBIBVERBS "libibverbs.so.1"

const char *const companion_names[] = { "libibumad.so.1", "libibumad.so.2", "libibcommon.so.1", "libibcm.so.1", NULL };

bool libibverbs_is_old(const char *path)
{
	/* All releases of rdma-core have this symbol version, by which their drivers find them. */
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
	const char *list = getenv("LD_PRELOAD");
	size_t length = strlen(name);

	while (list && *list) {
		size_t end = strcspn(list, ": ");

		if (end > length && list[end - length - 1] == '/' && !strncmp(list + end - length, name, length))
			return true;
		list += end + (list[end] != '\0');
	}
	return false;
}

void needs_read(const struct closure *closure, struct needs *needs)
{
	const struct loaded_object *neutral = closure_find(closure, "libc.so.6"); /* has no RPATH, and the program's class */
	const struct elf_info *kind = &closure->object[0]->elf;
	const struct loaded_object *libibverbs = closure_find(closure, LIBIBVERBS);
	struct path_candidates candidates;

	memset(needs, 0, sizeof(*needs));
	for (size_t i = 0; i < closure->missing.count; i++) {
		const char *name = closure->missing.item[i];
		const char *path = is_companion(name) ? paths_companion_of(kind->bits, name, &candidates) : NULL;

		if (!is_preloaded(name))
			string_list_add(path ? &needs->companion : &needs->missing, path ? path : name);
	}
	if (!neutral || !loader_find_system(LIBIBVERBS, kind, neutral->path, needs->system_libibverbs))
		needs->system_libibverbs[0] = '\0';
	if (libibverbs && !is_preloaded(LIBIBVERBS) && strcmp(libibverbs->path, needs->system_libibverbs) != 0 && libibverbs_is_old(libibverbs->path))
		snprintf(needs->old_libibverbs, sizeof(needs->old_libibverbs), "%s", libibverbs->path);
}

void needs_free(struct needs *needs)
{
	string_list_free(&needs->companion);
	string_list_free(&needs->missing);
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
		if (!strcmp(answer.name.item[i], LIBIBVERBS) && answer.path.item[i][0] && libibverbs_is_old(answer.path.item[i]) &&
		    loader_find_system(LIBIBVERBS, &kind, self, path))
			chosen = path;
	}
	loader_answer_free(&answer);
	elf_info_free(&kind);
	return chosen;
}
