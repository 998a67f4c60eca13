/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The program that a user names: its path, the ELF file that the kernel loads for it, and whether a
 * library can be preloaded.
 */
#ifndef XRC_COMPAT_TOOLS_PROGRAM_H
#define XRC_COMPAT_TOOLS_PROGRAM_H

#include "elf_info.h"

#include <limits.h>

/* Why a preloaded library would not get into a program. */
enum program_fault {
	PROGRAM_FINE,
	PROGRAM_NOT_FOUND,
	PROGRAM_NOT_EXECUTABLE,
	PROGRAM_BAD_FORMAT,
	PROGRAM_BAD_ELF,
	PROGRAM_NO_LOADER,
	PROGRAM_LIBRARY,
	PROGRAM_STATIC,
	PROGRAM_PACKED,
	PROGRAM_SETUID,
	PROGRAM_CAPABILITIES,
	PROGRAM_OTHER_MACHINE, /* runs here, but our library has another class */
	PROGRAM_FOREIGN,       /* runs on other machines only */
};

struct program {
	char path[PATH_MAX];   /* what is executed */
	/* the ELF file behind it: the same file, or the interpreter of a script */
	char binary[PATH_MAX];
	struct elf_info elf;   /* of @binary; empty when it could not be read */
};

/*
 * Looks @name up as the shell would ($PATH, unless it contains a slash), follows '#!' lines and
 * reads the ELF file. PROGRAM_FINE means only that it could be read; the other properties are
 * program_preload_fault()'s. Call program_close() in any case.
 */
enum program_fault program_open(const char *name, struct program *program);
void program_close(struct program *program);

/*
 * Whether the kernel can start @program and @library (its ELF header) be preloaded into it, and if
 * not, why.
 */
enum program_fault program_preload_fault(const struct program *program,
					 const struct elf_info *library);

/*
 * Writes the sentence that tells a user about @fault. @library may be NULL unless the fault is
 * PROGRAM_OTHER_MACHINE.
 */
void program_fault_text(enum program_fault fault, const char *name, const struct program *program,
			const struct elf_info *library, char *text, size_t size);

/* What the user can do about it, or NULL. */
const char *program_fault_advice(enum program_fault fault);

/*
 * The status with which `xrc-compat run` refuses: 127 when the program cannot be found, 126 when
 * not executed, else 125.
 */
int program_fault_exit(enum program_fault fault);

#endif
