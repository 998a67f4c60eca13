/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The loaded objects of the process: their dynamic sections, references, functions and strings. */
#include "loaded.h"

/*
 * The loader has replaced the offsets in an object's dynamic section by addresses, but not in that
 * of the vDSO. NULL: the section has no such entry.
 */
static const void *address_of(ElfW(Addr) base, ElfW(Addr) value)
{
	return (const void *)(value && value < base ? base + value : value);
}

void loaded_read(ElfW(Addr) base, const ElfW(Dyn) *dynamic, struct loaded *loaded)
{
	ElfW(Addr) value[DT_NUM] = { 0 }, gnu_hash = 0;

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		if ((size_t)dynamic->d_tag < DT_NUM)
			value[dynamic->d_tag] = dynamic->d_un.d_val;
		else if (dynamic->d_tag == DT_GNU_HASH)
			gnu_hash = dynamic->d_un.d_ptr;
	}
	*loaded = (struct loaded){
		.base = base,
		.symbols = address_of(base, value[DT_SYMTAB]),
		.names = address_of(base, value[DT_STRTAB]),
		.names_size = value[DT_STRSZ],
		.soname = value[DT_SONAME],
		.gnu_hash = address_of(base, gnu_hash),
		.relocations = {
			[LOADED_PLT] = { address_of(base, value[DT_JMPREL]), value[DT_PLTRELSZ],
					 value[DT_PLTREL] == DT_RELA },
			[LOADED_RELA] = { address_of(base, value[DT_RELA]), value[DT_RELASZ],
					  true },
			[LOADED_REL] = { address_of(base, value[DT_REL]), value[DT_RELSZ], false },
		},
	};
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

const char *loaded_soname(const struct loaded *loaded)
{
	return loaded_name(loaded, loaded->soname);
}

const char *loaded_name(const struct loaded *loaded, size_t offset)
{
	return offset < loaded->names_size ? loaded->names + offset : "";
}

bool loaded_contains(const struct loaded *loaded, const void *address)
{
	ElfW(Addr) offset = (ElfW(Addr))address - loaded->base;

	for (unsigned i = 0; i < loaded->segment_count; i++) {
		const ElfW(Phdr) *segment = &loaded->segments[i];

		if (segment->p_type == PT_LOAD && offset - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

/* ---- the names that relocations refer to ---- */

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
	for (int i = 0; i < LOADED_TABLES; i++)
		if (table_refers(loaded, &loaded->relocations[i], match))
			return true;
	return false;
}

/* ---- a function that the object defines, by its hash table ---- */

/*
 * strcmp() cannot be called here: a sanitizer's runtime has a strcmp() of its own, and looks up
 * functions through our dlsym before that works.
 */
static bool is_same_string(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The table has defined symbols only. NULL: symbol @index is not a function of this name. */
static void *function_at(const struct loaded *loaded, size_t index, const char *name)
{
	const ElfW(Sym) *symbol = &loaded->symbols[index];

	/* Both ELF classes have the type in the low four bits. */
	if ((symbol->st_info & 0xf) != STT_FUNC ||
	    !is_same_string(loaded_name(loaded, symbol->st_name), name))
		return NULL;
	return (void *)(loaded->base + symbol->st_value);
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/*
 * The table begins with the number of buckets, the index of the first hashed symbol, the number of
 * Bloom words, and the Bloom shift. The Bloom words, the buckets and the chains follow.
 */
static void *find_by_gnu_hash(const struct loaded *loaded, const char *name)
{
	const uint32_t *table = loaded->gnu_hash, hash = gnu_hash_of(name);
	const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(table + 4) + table[2]);
	const uint32_t *chains = buckets + table[0];
	uint32_t index = table[0] ? buckets[hash % table[0]] : 0;
	void *found;

	for (; index >= table[1] && index; index++) {
		uint32_t chain = chains[index - table[1]];

		found = (chain ^ hash) < 2 ? function_at(loaded, index, name) : NULL;
		if (found || chain & 1)
			return found;
	}
	return NULL;
}

void *loaded_symbol(const struct loaded *loaded, const char *name)
{
	return loaded->gnu_hash ? find_by_gnu_hash(loaded, name) : NULL;
}

/* ---- the strings in read-only segments ---- */

#define VERB_SIZE_MAX 64 /* more than the longest name of a verb */

/*
 * Returns the next "ibv_" in [at, end) that a null byte follows soon, or NULL. memmem() cannot
 * search here: a sanitizer in the program checks its arguments, and would report the gaps between
 * the program's variables.
 */
static const char *find_verb(const char *at, const char *end)
{
	static const char prefix[] = "ibv_";
	uint32_t wanted, found;

	__builtin_memcpy(&wanted, prefix, sizeof(wanted));
	for (; (size_t)(end - at) > sizeof(found); at++) {
		__builtin_memcpy(&found, at, sizeof(found));
		if (found != wanted)
			continue;
		for (size_t length = 0; length < VERB_SIZE_MAX && at + length < end; length++)
			if (!at[length])
				return at;
	}
	return NULL;
}

static bool segment_mentions(const struct loaded *loaded, const char *at, const char *end,
			     bool (*match)(const char *name))
{
	const char *names_end = loaded->names + loaded->names_size;

	while (at < end && (at = find_verb(at, end))) {
		bool in_names = at >= loaded->names && at < names_end;

		if (!in_names && match(at))
			return true;
		at = in_names ? names_end : at + 1;
	}
	return false;
}

bool loaded_mentions(const struct loaded *loaded, bool (*match)(const char *name))
{
	for (unsigned i = 0; i < loaded->segment_count; i++) {
		const ElfW(Phdr) *segment = &loaded->segments[i];
		const char *at = (const char *)(loaded->base + segment->p_vaddr);

		if (segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R &&
		    segment_mentions(loaded, at, at + segment->p_filesz, match))
			return true;
	}
	return false;
}
