/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What must be preloaded besides libxrc-compat: companions, and the system's libibverbs in place of
 * an old one.
 */
#ifndef XRC_COMPAT_TOOLS_NEEDS_H
#define XRC_COMPAT_TOOLS_NEEDS_H

#include "closure.h"
#include "program.h"

struct needs {
	struct string_list companion;	  /* paths of our libraries with sonames that went away */
	struct string_list missing;	  /* libraries that the program still misses */
	/* the one that the program would get and that cannot work here; "" if it is not old */
	char old_libibverbs[PATH_MAX];
	char system_libibverbs[PATH_MAX]; /* its replacement; "" if the machine has none */
};

void needs_read(const struct closure *closure, struct needs *needs);
void needs_free(struct needs *needs);

/*
 * Adds what @program needs in LD_PRELOAD besides our library. If @program starts another one, and
 * its @words or its script tell which, adds what that one needs as well. With XRC_COMPAT_VERBOSE a
 * message names each library. @system_libibverbs: add the system's libibverbs in any case.
 */
void needs_add(const struct program *program, char *const *words, bool system_libibverbs,
	       struct string_list *libraries);

/* The same for the ELF file @path, of @kind. */
void needs_add_file(const char *path, const struct elf_info *kind, bool system_libibverbs,
		    struct string_list *libraries);

/* The names of our companion libraries; NULL ends the list. */
extern const char *const companion_names[];

/* True for a libibverbs from before rdma-core. It finds no device on today's kernels. */
bool libibverbs_is_old(const char *path);

/*
 * The libibverbs that the commands load for themselves. Never an old one, even if LD_LIBRARY_PATH
 * leads to it.
 */
const char *libibverbs_for_tools(void);

#endif
