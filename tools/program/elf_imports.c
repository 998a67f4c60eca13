/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the undefined dynamic symbols with their versions. */
#include "elf_imports.h"
#include "tools/common/command.h"
#include "tools/common/message.h"

#include <stdlib.h>
#include <string.h>

/*
 * Finds the entry of a library's list that carries version @index. The chain is a list of relative offsets from the
 * file: only forward steps are followed, so that a broken file cannot make a circle.
 */
static bool find_version(const struct elf_dynamic *dynamic, GElf_Versym index, struct elf_import *import)
{
	GElf_Verneed need;
	int offset = 0;

	while (dynamic->verneed && gelf_getverneed(dynamic->verneed, offset, &need)) {
		int auxiliary_offset = offset + (int)need.vn_aux;
		GElf_Vernaux auxiliary;

		while (gelf_getvernaux(dynamic->verneed, auxiliary_offset, &auxiliary)) {
			if (auxiliary.vna_other == index) {
				import->version = copy_string(elf_dynamic_string(dynamic, auxiliary.vna_name));
				import->library = copy_string(elf_dynamic_string(dynamic, need.vn_file));
				return true;
			}
			if ((int)auxiliary.vna_next <= 0)
				break;
			auxiliary_offset += (int)auxiliary.vna_next;
		}
		if ((int)need.vn_next <= 0)
			break;
		offset += (int)need.vn_next;
	}
	return false;
}

static void add_import(const struct elf_dynamic *dynamic, int index, const GElf_Sym *symbol, struct elf_info *info)
{
	const char *name = elf_dynamic_string(dynamic, symbol->st_name);
	struct elf_import import = { .weak = GELF_ST_BIND(symbol->st_info) == STB_WEAK };
	struct elf_import *grown;
	GElf_Versym version;

	if (!name || !name[0])
		return;
	grown = realloc(info->import, (info->import_count + 1) * sizeof(*grown));
	if (!grown)
		exit(refuse(TOOL_EXIT_REFUSED, "out of memory"));
	info->import = grown;
	import.name = copy_string(name);
	if (dynamic->versym && gelf_getversym(dynamic->versym, index, &version) && (version & 0x7fff) > VER_NDX_GLOBAL)
		find_version(dynamic, version & 0x7fff, &import);
	info->import[info->import_count++] = import;
}

static void add_export(const struct elf_dynamic *dynamic, const GElf_Sym *symbol, struct elf_info *info)
{
	const char *name = elf_dynamic_string(dynamic, symbol->st_name);

	if (name && name[0] && GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
		string_list_add(&info->export, name);
}

void elf_imports_read(const struct elf_dynamic *dynamic, struct elf_info *info)
{
	GElf_Sym symbol;

	for (int i = 0; dynamic->symbols && gelf_getsym(dynamic->symbols, i, &symbol); i++) {
		if (symbol.st_shndx == SHN_UNDEF)
			add_import(dynamic, i, &symbol, info);
		else
			add_export(dynamic, &symbol, info);
	}
}

void elf_imports_free(struct elf_info *info)
{
	for (size_t i = 0; i < info->import_count; i++) {
		free(info->import[i].name);
		free(info->import[i].version);
		free(info->import[i].library);
	}
	free(info->import);
	info->import = NULL;
	info->import_count = 0;
	string_list_free(&info->export);
}

const struct elf_import *elf_info_find_import(const struct elf_info *info, const char *name)
{
	for (size_t i = 0; i < info->import_count; i++) {
		if (!strcmp(info->import[i].name, name))
			return &info->import[i];
	}
	return NULL;
}
