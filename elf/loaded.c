/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The loaded objects of the process, read from their dynamic sections. */
#include "loaded.h"

/*
 * The loader has replaced the offsets in an object's dynamic section by addresses, but not in that
 * of the vDSO.
 */
static const void *address_of(const struct loaded *loaded, ElfW(Addr) value)
{
	return (const void *)(value < loaded->base ? loaded->base + value : value);
}

static void read_relocations(struct loaded *loaded, const ElfW(Dyn) *entry)
{
	struct loaded_relocations *tables = loaded->relocations;

	switch (entry->d_tag) {
	case DT_JMPREL:
		tables[LOADED_PLT].start = address_of(loaded, entry->d_un.d_ptr);
		break;
	case DT_PLTRELSZ:
		tables[LOADED_PLT].size = entry->d_un.d_val;
		break;
	case DT_PLTREL:
		tables[LOADED_PLT].addends = entry->d_un.d_val == DT_RELA;
		break;
	case DT_RELA:
		tables[LOADED_RELA].start = address_of(loaded, entry->d_un.d_ptr);
		break;
	case DT_RELASZ:
		tables[LOADED_RELA].size = entry->d_un.d_val;
		break;
	case DT_REL:
		tables[LOADED_REL].start = address_of(loaded, entry->d_un.d_ptr);
		break;
	case DT_RELSZ:
		tables[LOADED_REL].size = entry->d_un.d_val;
		break;
	}
}

static void read_symbols(struct loaded *loaded, const ElfW(Dyn) *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		loaded->symbols = address_of(loaded, entry->d_un.d_ptr);
		break;
	case DT_STRTAB:
		loaded->names = address_of(loaded, entry->d_un.d_ptr);
		break;
	case DT_STRSZ:
		loaded->names_size = entry->d_un.d_val;
		break;
	case DT_SONAME:
		loaded->soname = entry->d_un.d_val;
		break;
	case DT_GNU_HASH:
		loaded->gnu_hash = address_of(loaded, entry->d_un.d_ptr);
		break;
	}
}

void loaded_read(ElfW(Addr) base, const ElfW(Dyn) *dynamic, struct loaded *loaded)
{
	*loaded = (struct loaded){ .base = base, .relocations[LOADED_RELA].addends = true };
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		read_symbols(loaded, dynamic);
		read_relocations(loaded, dynamic);
	}
}

struct visitor {
	int (*visit)(const struct loaded *loaded, void *arg);
	void *arg;
};

static int visit_object(struct dl_phdr_info *info, size_t size, void *closure)
{
	const struct visitor *visitor = closure;
	struct loaded loaded;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		loaded_read(info->dlpi_addr,
			    (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
			    &loaded);
		loaded.segments = info->dlpi_phdr;
		loaded.segment_count = info->dlpi_phnum;
		return visitor->visit(&loaded, visitor->arg);
	}
	return 0;
}

int loaded_each(int (*visit)(const struct loaded *loaded, void *arg), void *arg)
{
	struct visitor visitor = { .visit = visit, .arg = arg };

	return dl_iterate_phdr(visit_object, &visitor);
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *generation)
{
	(void)size;
	*(unsigned long long *)generation = info->dlpi_adds;
	return 1;
}

unsigned long long loaded_generation(void)
{
	unsigned long long generation = 0;

	dl_iterate_phdr(read_generation, &generation);
	return generation;
}

const char *loaded_soname(const struct loaded *loaded)
{
	return loaded->names && loaded->soname ? loaded_name(loaded, loaded->soname) : "";
}

const char *loaded_name(const struct loaded *loaded, size_t offset)
{
	return offset < loaded->names_size ? loaded->names + offset : "";
}
