/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tables behind an ELF file's dynamic segment, found as the loader finds them: by their addresses, without section headers. */
#ifndef XRC_COMPAT_TOOLS_ELF_DYNAMIC_H
#define XRC_COMPAT_TOOLS_ELF_DYNAMIC_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>

/* A table that the file does not have is NULL. All belong to @elf, and end with it. */
struct elf_dynamic {
	Elf *elf;
	Elf_Data *entries; /* DT_* */
	Elf_Data *symbols, *versym, *verneed;
	Elf_Data *strings;
};

/* False when there is a dynamic segment that no loader could read: it, or a table of it, lies outside the file. */
bool elf_dynamic_read(Elf *elf, struct elf_dynamic *dynamic);

/* NULL when it does not end within the table: these files come from anywhere. */
const char *elf_dynamic_string(const struct elf_dynamic *dynamic, GElf_Xword at);

#endif
