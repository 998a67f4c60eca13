/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The headers of ELF files. */
#ifndef TOOLS_ELF_INFO_H
#define TOOLS_ELF_INFO_H

#include <stdbool.h>
#include <stddef.h>

struct elf_info {
	int bits;	  /* 32 or 64; 0 if no file was read */
	unsigned int machine; /* EM_* */
	bool big_endian;
	bool is_library;  /* a library or plugin: a process loads it, but cannot start from it */
	bool is_static;	  /* a program that no loader starts, as a packed one */
	bool is_audited;   /* has DT_AUDIT: the loader runs that library to list the others */
	char *interpreter; /* the dynamic loader, or NULL */
	size_t mapped; /* bytes of the file up to the end of its last PT_LOAD */
};

/*
 * Reads @path. 0, or -errno. -ENOEXEC: it is not an ELF file. -ELIBBAD: it is an ELF file that
 * cannot start (an object file, a core dump, a part of a program). -EACCES: it is not a regular
 * file, or may not be read. Otherwise the error of open(). On failure @info is left empty.
 */
int elf_info_read(const char *path, struct elf_info *info);

/* The dynamic loader for such programs; NULL for another architecture than this one's. */
const char *elf_info_loader(const struct elf_info *info);

/* Whether the program is for a C library whose loader cannot load libraries of glibc. */
bool elf_info_is_of_other_libc(const struct elf_info *info);

/* "x86-64", "i386", "ppc64, big-endian" ..., or "machine N"; for people. */
const char *elf_info_machine_name(const struct elf_info *info);

/*
 * Whether the file @path names the symbol, or one that ends in it, as an import or for dlsym().
 * Linkers merge such names. Debugging information is not mapped and does not count.
 */
bool elf_info_names(const struct elf_info *info, const char *path, const char *name);

#endif
