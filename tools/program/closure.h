/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The libraries of a program: the answers of the dynamic loader. */
#ifndef TOOLS_CLOSURE_H
#define TOOLS_CLOSURE_H

#include <tools/files/elf_info.h>
#include <tools/text/memory.h>

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
 * @object; NULL if it can or cannot be asked. RUNPATH and LD_LIBRARY_PATH may lead to old ones.
 */
const char *closure_load_fault(const char *libraries, const char *object);

#endif
