/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Everything that comes into a process with a program: its libraries, theirs, and plugins where they can be guessed. */
#ifndef XRC_COMPAT_TOOLS_CLOSURE_H
#define XRC_COMPAT_TOOLS_CLOSURE_H

#include "tools/program/library_search.h"

struct closure {
	struct loaded_object **object; /* [0] is the program; requesters come before what they request */
	size_t count;
	struct string_list missing; /* libraries that are nowhere */
	struct string_list damaged; /* paths of those that are there, but that the loader could not read */
};

/* Collects the libraries of the ELF file @path, as loaded by the loader of this machine. 0 or -errno. */
int closure_read(const char *path, struct closure *closure);
void closure_free(struct closure *closure);

/* Adds a plugin that the program opens by itself, with its libraries. 0 or -errno. */
int closure_add_plugin(struct closure *closure, const char *path);

/* Adds what lies in the plugin directories of MPI implementations beside the libraries already there. */
void closure_add_known_plugins(struct closure *closure);

/* The object whose SONAME or file name is @name, or NULL. */
const struct loaded_object *closure_find(const struct closure *closure, const char *name);

#endif
