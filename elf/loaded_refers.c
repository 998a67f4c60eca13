/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Searches the names of the symbols that an object's relocations refer to. */
#include "loaded.h"

static size_t symbol_index(uint64_t info)
{
	return sizeof(ElfW(Addr)) == 8 ? ELF64_R_SYM(info) : ELF32_R_SYM((uint32_t)info);
}

static bool table_refers(const struct loaded *loaded, const struct loaded_relocations *table,
			 bool (*match)(const char *name))
{
	size_t step = table->addends ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));

	for (size_t at = 0; table->start && at + step <= table->size; at += step) {
		/* ElfW(Rela) begins with the members of ElfW(Rel). */
		const ElfW(Rel) *relocation = (const ElfW(Rel) *)(table->start + at);
		const ElfW(Sym) *symbol = &loaded->symbols[symbol_index(relocation->r_info)];

		if (match(loaded_name(loaded, symbol->st_name)))
			return true;
	}
	return false;
}

bool loaded_refers(const struct loaded *loaded, bool (*match)(const char *name))
{
	if (!loaded->symbols || !loaded->names)
		return false;
	for (int i = 0; i < LOADED_TABLES; i++)
		if (table_refers(loaded, &loaded->relocations[i], match))
			return true;
	return false;
}
