/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Where this installation's own files are: relative to the running command first, then where they
 * were installed.
 */
#ifndef XRC_COMPAT_TOOLS_PATHS_H
#define XRC_COMPAT_TOOLS_PATHS_H

#include "elf_info.h"

#include <limits.h>
#include <stddef.h>

#define PATHS_MAX_CANDIDATES 8

/* Every place to look at, in order; a message names them all. */
struct path_candidates {
	size_t count;
	char path[PATHS_MAX_CANDIDATES][PATH_MAX];
};

/* The places of libxrc-compat.so.1; only $XRC_COMPAT_LIBRARY, made absolute, when that is set. */
void paths_library(struct path_candidates *candidates);

/*
 * The libxrc-compat.so.1 for programs of @bits, or NULL. For another word size than this command's
 * it is looked for where it is installed beside this one's, and in the build directory with "-i386"
 * behind its name (or without, if this one has it). If there is none, the result is this command's
 * own library, which does not fit.
 */
const char *paths_library_of(int bits, struct path_candidates *candidates);

/* The places of the softhca command. */
void paths_softhca(struct path_candidates *candidates);

/*
 * The places of a program or library of ours that no user starts by name. @in_build: "folder/file"
 * in the build tree.
 */
void paths_helper(const char *in_build, struct path_candidates *candidates);

/*
 * The libxrc-trace.so for programs of @bits, found as paths_library_of() finds the other library;
 * NULL where there is none.
 */
const char *paths_tracer_of(int bits, struct path_candidates *candidates);

/* The same for one of companion_names. */
const char *paths_companion_of(int bits, const char *name, struct path_candidates *candidates);

/*
 * Why the library at @path, which is @elf, cannot be preloaded, as "PATH: ..." goes on; NULL if it
 * can be.
 */
const char *paths_preload_fault(const char *path, const struct elf_info *elf);

/* Where the registration tables are. */
const char *paths_table_directory(void);

/*
 * The first candidate that is an ELF file of this command's word size, or else the first readable
 * file, or NULL.
 */
const char *paths_first(const struct path_candidates *candidates);

/* Absolute path of the running command. 0 or -errno. */
int paths_self(char *path, size_t size);

#endif
