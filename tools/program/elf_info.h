/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Facts about an ELF file: its machine, its loader, what it imports. */
#ifndef XRC_COMPAT_TOOLS_ELF_INFO_H
#define XRC_COMPAT_TOOLS_ELF_INFO_H

#include "tools/common/memory.h"

/* A symbol that the file wants from elsewhere. */
struct elf_import {
	char *name;
	char *version; /* version node, or NULL */
	char *library; /* the SONAME the version is wanted from, or NULL */
	bool weak;
};

struct elf_info {
	int bits;	  /* 32 or 64 */
	unsigned int machine; /* EM_* */
	bool big_endian;
	bool has_interpreter;
	bool is_dynamic;  /* has a dynamic segment */
	bool has_sections; /* packers and sstrip remove them; then SONAME and symbols are unknown */
	bool is_program;  /* marked as one: DT_DEBUG or DF_1_PIE, which no shared library has */
	/* has DT_AUDIT: the loader runs that library, even if it only lists libraries */
	bool is_audited;
	bool bind_now;	  /* all functions are resolved at the start */
	char *interpreter; /* the dynamic loader, or NULL */
	char *soname;
	struct elf_import *import;
	size_t import_count;
	struct string_list export; /* names of the functions and objects it defines for others */
};

/*
 * Reads @path. 0, or -errno: -ENOEXEC when it is no ELF file, -ELIBBAD when it is one that no
 * process can be made of (an object file, a core dump, a part of a program), -EACCES when it is no
 * regular file, otherwise what open() said. On failure @info is left empty and needs no
 * elf_info_free().
 */
int elf_info_read(const char *path, struct elf_info *info);
void elf_info_free(struct elf_info *info);

/*
 * True for a program that no loader starts: nothing can be preloaded into it. False for a loader.
 */
bool elf_info_is_static(const struct elf_info *info);

/* True for a library or plugin, which a process loads but cannot start from. */
bool elf_info_is_library(const struct elf_info *info);

/*
 * "x86-64", "i386", "ppc64, big-endian" ..., or "machine N"; for people. The result may be a static
 * buffer.
 */
const char *elf_info_machine_name(const struct elf_info *info);

/* The import of that name, or NULL. */
const struct elf_import *elf_info_find_import(const struct elf_info *info, const char *name);

#endif
