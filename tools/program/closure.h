/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* All objects that a program loads: its libraries, their libraries, and plugins that are known. */
#ifndef XRC_COMPAT_TOOLS_CLOSURE_H
#define XRC_COMPAT_TOOLS_CLOSURE_H

#include "loader.h"

/* An object that the loader maps. */
struct loaded_object {
	char *path;
	char *wanted; /* the name in DT_NEEDED */
	struct elf_info elf; /* bits 0 if it could not be read */
};

struct closure {
	struct loaded_object **object; /* [0] is the program */
	size_t count;
	struct string_list missing; /* libraries that are nowhere */
	char *failure; /* why the loader would give up; or NULL */
};

/*
 * Asks the loader for the libraries of the ELF file @path, of @kind, and of these plugins, which
 * the program opens by itself.
 */
void closure_read(const char *path, const struct elf_info *kind, const struct string_list *plugins,
		  struct closure *closure);
void closure_free(struct closure *closure);

/* The object whose SONAME or file name is @name, or NULL. */
const struct loaded_object *closure_find(const struct closure *closure, const char *name);

/* Whether a library of an MPI implementation is there, or the program contains one. */
bool closure_has_mpi(const struct closure *closure);

#endif
