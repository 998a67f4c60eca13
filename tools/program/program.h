/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the file that the kernel executes for a program, and says why `run` refuses it. */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include <tools/files/elf_info.h>

/* ---- program.c ---- */

struct program {
	const char *path;      /* the file that execvp() executes; NULL if there is none */
	const char *binary;    /* the same, or a script's interpreter; NULL if there is none */
	struct elf_info elf;   /* what @binary says; empty when it could not be read */
	const char *fault;     /* the sentence why `run` refuses it; NULL: it does not */
	const char *advice;    /* what the user can do about that, or NULL */
	bool is_unreadable;    /* the fault is only that; the kernel executes @binary */
};

/*
 * The next two return 0, or a fault and the exit status of `run`: 127 when the program cannot be
 * found, 126 when the kernel does not execute it or it cannot be read, 125 when no library can be
 * preloaded into it.
 */

/*
 * Looks @name up as the shell would ($PATH, unless it contains a slash), follows '#!' lines and
 * reads the ELF file. 0 does not mean that `run` starts it: see program_refuse().
 */
int program_open(const char *name, struct program *program);

/* Asks of an open program whether it starts and @library (its ELF header) can be preloaded. */
int program_refuse(struct program *program, const struct elf_info *library);

/* Says why `run` refuses the program, and what the user can do. */
void program_say_fault(const struct program *program);

/* True for a script: its #! line names another file. */
bool program_is_script(const struct program *program);

/* ---- starter.c: programs that start others ---- */

/* True for a script, for a known launcher or interpreter, and for a program that calls exec(). */
bool starter_is_one(const struct program *program);

/* True for mpirun and other MPI launchers, and for a script that starts one. */
bool starter_is_mpi(const struct program *program);

/*
 * The program that @starter starts: an ELF program without the name of a known starter. The first
 * of @words (up to NULL) that is its path, or the path of a short script whose last command is such
 * a program, names it. Without such a word a script's own last command names it. NULL: none does.
 */
const char *starter_find_program(const struct program *starter, char *const *words);

#endif
