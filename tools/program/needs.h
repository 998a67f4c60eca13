/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What must be preloaded besides libxrc-compat. */
#ifndef TOOLS_NEEDS_H
#define TOOLS_NEEDS_H

#include "closure.h"
#include "program.h"

/* The user's options for what is preloaded. other_hosts is set where the line is for all hosts. */
struct preload_wish {
	bool system_libibverbs;	/* of --system-libibverbs */
	bool companions;	/* of --companions */
	bool other_hosts;	/* they may lack development packages that this one has */
};

/* Adds profilers and their like of LD_PRELOAD: they see calls only in front of our library. */
void needs_add_interposers(struct string_list *libraries);

/* Our companion libraries; one without a name ends the list. */
struct companion {
	const char *name;
	/* Of names that programs pass to dlopen(), which only development packages install: */
	const char *today;	/* the library that this one loads */
	const char *variable;	/* MVAPICH2 opens what it names if there is no file @name */
};
extern const struct companion companions[];

/*
 * Whether a file mentions the variables from which HP-MPI and Platform MPI read the library that
 * they open, by default libibverbs.so, and the module to look for. The ranks need not name either.
 */
bool is_platform_mpi(const char *path);

/* Whether lsmod(8) lists ib_core. HP-MPI and Platform MPI look for that module there. */
bool ib_core_is_listed(void);

/*
 * After closure_read(): fills the members companion, libibverbs, old_libibverbs and
 * system_libibverbs. A library that xrc-compat has is then no longer in missing. @wish tells which
 * companions the user wants besides those that the program needs.
 */
void needs_read(struct closure *closure, const struct preload_wish *wish);

/*
 * Adds what @program, and the program that it starts with @words, need in LD_PRELOAD besides our
 * library. With XRC_COMPAT_VERBOSE a message names each library.
 */
void needs_add(const struct program *program, char *const *words,
	       const struct preload_wish *wish, struct string_list *libraries);

/* The libibverbs that the commands load for themselves: not an old one of LD_LIBRARY_PATH. */
const char *needs_own_libibverbs(void);

#endif
