/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The undefined dynamic symbols of an ELF file, each with the version node it asks for. */
#ifndef XRC_COMPAT_TOOLS_ELF_IMPORTS_H
#define XRC_COMPAT_TOOLS_ELF_IMPORTS_H

#include "elf_dynamic.h"
#include "elf_info.h"

/* Fills info->import; a file without dynamic symbols has none. */
void elf_imports_read(const struct elf_dynamic *dynamic, struct elf_info *info);
void elf_imports_free(struct elf_info *info);

#endif
