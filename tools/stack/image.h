/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An open process or core file, for the files of this directory. */
#ifndef TOOLS_STACK_IMAGE_H
#define TOOLS_STACK_IMAGE_H

#include "stack.h"

#include <elfutils/libdwfl.h>

struct image {
	pid_t process;
	Dwfl *dwfl;
	int file;	/* the core file; -1: the process is alive */
	Elf *core;
	stack_visit *visit;	/* gets each thread of the core file */
};

/* 0 or -errno. */
int image_of_process(pid_t process, struct image *image);
int image_of_core(const char *file, struct image *image);
void image_close(struct image *image);

/* ---- core.c ---- */

/* Reports the files that the core file's notes name, and the vDSO. */
void core_report(const struct image *image);

/* The callback find_elf of libdwfl. It opens regular files that do not differ from the core. */
int core_find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file,
		  Elf **elf);

#endif
