/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the undefined dynamic symbols with their versions: SHT_DYNSYM, SHT_GNU_versym and SHT_GNU_verneed. */
#include "elf_imports.h"
#include "command.h"
#include "message.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* The three sections that together say "symbol, version, from which library". */
struct version_sections {
	Elf_Data *symbols;
	GElf_Shdr symbols_header;
	Elf_Data *versym;
	Elf_Data *verneed;
	GElf_Shdr verneed_header;
};

static void find_sections(Elf *elf, struct version_sections *sections)
{
	Elf_Scn *section = NULL;

	memset(sections, 0, sizeof(*sections));
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_DYNSYM) {
			sections->symbols = elf_getdata(section, NULL);
			sections->symbols_header = header;
		} else if (header.sh_type == SHT_GNU_versym) {
			sections->versym = elf_getdata(section, NULL);
		} else if (header.sh_type == SHT_GNU_verneed) {
			sections->verneed = elf_getdata(section, NULL);
			sections->verneed_header = header;
		}
	}
}

/*
 * Finds the entry of a library's list that carries version @index. The chain is a list of relative offsets from the
 * file: only forward steps are followed, so that a broken file cannot make a circle.
 */
static bool find_version(Elf *elf, const struct version_sections *sections, GElf_Versym index, struct elf_import *import)
{
	GElf_Verneed need;
	int offset = 0;

	while (sections->verneed && gelf_getverneed(sections->verneed, offset, &need)) {
		int auxiliary_offset = offset + (int)need.vn_aux;
		GElf_Vernaux auxiliary;

		while (gelf_getvernaux(sections->verneed, auxiliary_offset, &auxiliary)) {
			if (auxiliary.vna_other == index) {
				import->version = copy_string(elf_strptr(elf, sections->verneed_header.sh_link, auxiliary.vna_name));
				import->library = copy_string(elf_strptr(elf, sections->verneed_header.sh_link, need.vn_file));
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

static void add_import(Elf *elf, const struct version_sections *sections, int index, const GElf_Sym *symbol,
		       struct elf_info *info)
{
	const char *name = elf_strptr(elf, sections->symbols_header.sh_link, symbol->st_name);
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
	if (sections->versym && gelf_getversym(sections->versym, index, &version) && (version & 0x7fff) > VER_NDX_GLOBAL)
		find_version(elf, sections, version & 0x7fff, &import);
	info->import[info->import_count++] = import;
}

static void add_export(Elf *elf, const struct version_sections *sections, const GElf_Sym *symbol, struct elf_info *info)
{
	const char *name = elf_strptr(elf, sections->symbols_header.sh_link, symbol->st_name);

	if (name && name[0] && GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
		string_list_add(&info->export, name);
}

void elf_imports_read(Elf *elf, struct elf_info *info)
{
	struct version_sections sections;
	GElf_Sym symbol;

	find_sections(elf, &sections);
	for (int i = 0; sections.symbols && gelf_getsym(sections.symbols, i, &symbol); i++) {
		if (symbol.st_shndx == SHN_UNDEF)
			add_import(elf, &sections, i, &symbol, info);
		else
			add_export(elf, &sections, &symbol, info);
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
