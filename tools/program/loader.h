/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asks the dynamic loader which libraries it would load, as ldd does. It maps them, and runs no
 * code of theirs.
 */
#ifndef XRC_COMPAT_TOOLS_LOADER_H
#define XRC_COMPAT_TOOLS_LOADER_H

#include "elf_info.h"

#include <limits.h>

struct loader_question {
	const struct elf_info *kind;   /* class and machine of the object */
	const char *object;	       /* a program or library */
	const char *preload;	       /* in place of LD_PRELOAD; or NULL */
	bool system_only;	       /* without LD_LIBRARY_PATH */
};

struct loader_answer {
	struct string_list name;    /* as wanted: a SONAME, or a path */
	struct string_list path;    /* of each; "" if the loader does not find it */
	char *failure;		    /* why the loader would give up, in its words; or NULL */
};

/*
 * 0, or -ENOENT where no loader starts that kind on this machine, or asking it would run code of
 * the program's choice. Call loader_answer_free() in any case.
 */
int loader_ask(const struct loader_question *question, struct loader_answer *answer);
void loader_answer_free(struct loader_answer *answer);

/*
 * The path that the loader finds for the library @name where the system keeps libraries. False if
 * there is none. @path: PATH_MAX.
 */
bool loader_find_system(const char *name, const struct elf_info *kind, const char *object,
			char *path);

#endif
