/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The libraries of a program, and those that it needs besides. */
#ifndef TOOLS_LIBRARIES_H
#define TOOLS_LIBRARIES_H

#include "program.h"

#include <tools/devices/devices.h>
#include <tools/text/memory.h>

/* ---- closure.c: the answers of the dynamic loader ---- */

/* An object that the loader maps. */
struct loaded_object {
	const char *path;
	const char *wanted; /* the name in DT_NEEDED */
	struct elf_info elf; /* bits 0 if it could not be read */
};

struct closure {
	struct loaded_object *object; /* [0] is the program */
	size_t count;
	struct string_list missing; /* libraries of the program that are nowhere */
	struct string_list plugin_missing; /* libraries of its plugins; it starts without them */
	struct string_list companion; /* paths of our companions that must be preloaded */
	const char *failure; /* why the loader would give up, or NULL */
	const char *unasked; /* why the loader gave no answer; or NULL */
	const char *libibverbs;	       /* the path that the loader finds, or NULL */
	const char *old_libibverbs;    /* that path if its library cannot work here, or NULL */
	const char *system_libibverbs; /* its replacement; NULL if the machine has none */
};

/*
 * Asks the dynamic loader which libraries the ELF file @path would load, as ldd does, but runs no
 * code of theirs. @plugins: libraries that the program opens by itself; Open MPI's are added.
 */
void closure_read(const char *path, struct string_list *plugins, struct closure *closure);

/* The path of the object that was asked for as @name, or whose file has that name; or NULL. */
const char *closure_find(const struct closure *closure, const char *name);

/*
 * The path that the loader finds for the library @name, on behalf of the ELF file @object;
 * @system_only: without LD_LIBRARY_PATH. NULL if there is none.
 */
const char *closure_library(const char *name, const char *object, bool system_only);

/*
 * Why the loader cannot load these libraries, named as in LD_PRELOAD, on behalf of the ELF file
 * @object; NULL if it can. RUNPATH and LD_LIBRARY_PATH may lead to libraries that are too old.
 */
const char *closure_load_fault(const char *libraries, const char *object);

/* ---- libibverbs.c: its release and its providers ---- */

#define LIBIBVERBS "libibverbs.so.1"

/* What to do about a libibverbs that cannot be loaded. */
#define LIBIBVERBS_LOAD_ADVICE \
	"take the directory with the older library out of LD_LIBRARY_PATH or the program's RPATH; " \
	"in a container take the libibverbs of its image instead of the host's"

/* True for a libibverbs from before rdma-core. It finds no device on today's kernels. */
bool libibverbs_is_old(const char *path);

/* "rdma-core 44", or what else is known of the release. */
const char *libibverbs_release_name(const char *path);

/*
 * The path from which this libibverbs loads the provider @name, as "mlx5"; NULL: it does not tell.
 * Providers of another release have other paths.
 */
const char *libibverbs_provider(const char *libibverbs, const char *name);

/* ---- providers.c: the libraries with which libibverbs drives its devices ---- */

/* closure_load_fault() of this libibverbs with its providers for adapters with XRC. */
const char *providers_load_fault(const char *libibverbs, const char *object);

/* What to do about that. */
const char *providers_load_advice(void);

/* A device that the kernel has and libibverbs does not list. */
struct undriven {
	const char *fault;	/* NULL: there is none */
	const char *advice;
};

/*
 * Compares the kernel's devices with @list, which the libibverbs at @library has given. If several
 * are missing in the list, takes a device whose kind has XRC. @wanted: only this device; NULL: any.
 */
struct undriven providers_find_undriven(const char *library, const struct device_list *list,
					const char *wanted);

/* ---- needs.c: what must be preloaded besides libxrc-compat ---- */

/* What to preload besides what is needed. @other_hosts: the line is for other hosts, too. */
struct preload_wish {
	bool system_libibverbs;	/* of --system-libibverbs */
	bool companions;	/* of --companions */
	bool other_hosts;	/* they may lack development packages that this one has */
};

/*
 * Adds the libraries of LD_PRELOAD that interpose verbs, as profilers do: they see the program's
 * calls only in front of our library.
 */
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
