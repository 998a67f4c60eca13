/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Programs that start others: shells, interpreters, launchers of parallel programs, env and the
 * like.
 */
#ifndef XRC_COMPAT_TOOLS_STARTER_H
#define XRC_COMPAT_TOOLS_STARTER_H

#include "program.h"

/* True for a script, for a known launcher or interpreter, and for a program that calls exec(). */
bool starter_is_one(const struct program *program);

/* True for mpirun and other MPI launchers, and for a script that starts one. */
bool starter_is_mpi(const struct program *program);

/*
 * The first word of @words (up to NULL) that names an ELF program by a path and starts no others,
 * or a short shell script that ends with one or executes one: what a launcher or a shell is given.
 * Without such a word, what the starter itself ends with, if it is a script. False if none is
 * found. @path: PATH_MAX.
 */
bool starter_find_program(const struct program *starter, char *const *words, char *path);

#endif
