/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* From the dynamic segment to its tables. No entry tells how long the table of symbols is: that follows from who refers to it. */
#include "elf_dynamic.h"

#include <stdint.h>
#include <string.h>

#define GNU_HASH_HEADER 4 /* words: buckets, first symbol, words of the filter, shift */

static bool find_segment(Elf *elf, GElf_Word type, GElf_Addr address, GElf_Phdr *segment)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, segment) && segment->p_type == type &&
		    (type != PT_LOAD || (address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_filesz)))
			return true;
	}
	return false;
}

/* What the file has for @address: @size bytes, or as many as its segment has. NULL if there are none. */
static Elf_Data *table_at(Elf *elf, GElf_Addr address, GElf_Xword size, Elf_Type type)
{
	GElf_Phdr segment;
	GElf_Xword skipped;

	if (!address || !size || !find_segment(elf, PT_LOAD, address, &segment))
		return NULL;
	skipped = address - segment.p_vaddr;
	if (size > segment.p_filesz - skipped)
		size = segment.p_filesz - skipped;
	return elf_getdata_rawchunk(elf, (int64_t)(segment.p_offset + skipped), (size_t)size, type);
}

/* 0 if the file has no such entry. Of several the last one counts, as for the loader. */
static GElf_Xword value_of(const struct elf_dynamic *dynamic, GElf_Sxword tag)
{
	GElf_Xword value = 0;
	GElf_Dyn entry;

	for (int i = 0; gelf_getdyn(dynamic->entries, i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag == tag)
			value = entry.d_un.d_val;
	}
	return value;
}

/* ---- how many symbols there are ---- */

static GElf_Xword larger(GElf_Xword a, GElf_Xword b)
{
	return a > b ? a : b;
}

static bool has_word(const Elf_Data *data, uint64_t index)
{
	return data && index < data->d_size / sizeof(uint32_t);
}

/* 0 behind the end of the table. It stands where the file wants it, aligned or not. */
static uint32_t word(const Elf_Data *data, uint64_t index)
{
	uint32_t value = 0;

	if (has_word(data, index))
		memcpy(&value, (const char *)data->d_buf + index * sizeof(value), sizeof(value));
	return value;
}

static GElf_Xword count_in_hash(const struct elf_dynamic *dynamic)
{
	return word(table_at(dynamic->elf, value_of(dynamic, DT_HASH), 2 * sizeof(uint32_t), ELF_T_WORD), 1);
}

/* The last symbol is at the end of the chain that begins furthest behind. Symbols that are only wanted stand before the first chain. */
static GElf_Xword count_in_gnu_hash(const struct elf_dynamic *dynamic)
{
	Elf_Data *data = table_at(dynamic->elf, value_of(dynamic, DT_GNU_HASH), UINT64_MAX, ELF_T_WORD);
	uint64_t first = word(data, 1), last = 0;
	uint64_t buckets = GNU_HASH_HEADER + (uint64_t)word(data, 2) * (gelf_getclass(dynamic->elf) == ELFCLASS64 ? 2 : 1);
	uint64_t chains = buckets + word(data, 0);

	for (uint64_t i = buckets; i < chains && has_word(data, i); i++)
		last = larger(last, word(data, i));
	if (last < first)
		return first;
	while (has_word(data, chains + last - first) && !(word(data, chains + last - first) & 1))
		last++;
	return last + 1;
}

/* A file that defines no symbol has no hash to tell of those that it wants. These are what its relocations name. */
static GElf_Xword count_in_relocations(const struct elf_dynamic *dynamic, GElf_Sxword at, GElf_Sxword size, bool addends)
{
	Elf_Data *data = table_at(dynamic->elf, value_of(dynamic, at), value_of(dynamic, size), addends ? ELF_T_RELA : ELF_T_REL);
	GElf_Xword count = 0;
	GElf_Rela rela;
	GElf_Rel rel;

	for (int i = 0; data && addends && gelf_getrela(data, i, &rela); i++)
		count = larger(count, GELF_R_SYM(rela.r_info) + 1);
	for (int i = 0; data && !addends && gelf_getrel(data, i, &rel); i++)
		count = larger(count, GELF_R_SYM(rel.r_info) + 1);
	return count;
}

static GElf_Xword count_symbols(const struct elf_dynamic *dynamic)
{
	GElf_Xword count = larger(count_in_hash(dynamic), count_in_gnu_hash(dynamic));

	count = larger(count, count_in_relocations(dynamic, DT_RELA, DT_RELASZ, true));
	count = larger(count, count_in_relocations(dynamic, DT_REL, DT_RELSZ, false));
	return larger(count, count_in_relocations(dynamic, DT_JMPREL, DT_PLTRELSZ, value_of(dynamic, DT_PLTREL) == DT_RELA));
}

/* ---- all tables ---- */

bool elf_dynamic_read(Elf *elf, struct elf_dynamic *dynamic)
{
	GElf_Phdr segment;
	GElf_Xword count;

	memset(dynamic, 0, sizeof(*dynamic));
	dynamic->elf = elf;
	if (!find_segment(elf, PT_DYNAMIC, 0, &segment))
		return true;
	dynamic->entries = table_at(elf, segment.p_vaddr, segment.p_memsz, ELF_T_DYN);
	if (!dynamic->entries)
		return false;
	count = count_symbols(dynamic);
	dynamic->strings = table_at(elf, value_of(dynamic, DT_STRTAB), value_of(dynamic, DT_STRSZ), ELF_T_BYTE);
	dynamic->symbols = table_at(elf, value_of(dynamic, DT_SYMTAB), count * gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), ELF_T_SYM);
	dynamic->versym = table_at(elf, value_of(dynamic, DT_VERSYM), count * sizeof(GElf_Versym), ELF_T_HALF);
	dynamic->verneed = table_at(elf, value_of(dynamic, DT_VERNEED), UINT64_MAX, ELF_T_VNEED);
	return dynamic->strings || !value_of(dynamic, DT_STRTAB);
}

const char *elf_dynamic_string(const struct elf_dynamic *dynamic, GElf_Xword at)
{
	const Elf_Data *strings = dynamic->strings;

	if (!strings || at >= strings->d_size || !memchr((const char *)strings->d_buf + at, '\0', strings->d_size - (size_t)at))
		return NULL;
	return (const char *)strings->d_buf + at;
}
