/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The undefined dynamic symbols of an ELF file, each with the version node it asks for. */
#ifndef XRC_COMPAT_TOOLS_ELF_IMPORTS_H
#define XRC_COMPAT_TOOLS_ELF_IMPORTS_H

#include "elf_info.h"

#include <libelf.h>

/* Fills info->import; a file without dynamic symbols has none. */
void elf_imports_read(Elf *elf, struct elf_info *info);
void elf_imports_free(struct elf_info *info);

#endif
