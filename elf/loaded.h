/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The loaded objects of the process, read from their dynamic sections.
 *
 * dlsym() cannot tell what an object refers to, nor where the loader's own dlsym and dlvsym are,
 * which ours hide. Nothing here allocates memory.
 */
#ifndef ELF_LOADED_H
#define ELF_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of relocations: of the procedure linkage table, with addends, without. */
enum { LOADED_PLT, LOADED_RELA, LOADED_REL, LOADED_TABLES };

struct loaded_relocations {
	const char *start;
	size_t size;	/* in bytes */
	bool addends;	/* the entries are ElfW(Rela), else ElfW(Rel) */
};

/* An object, valid while it is loaded. What the object does not have is NULL or 0. */
struct loaded {
	ElfW(Addr) base;
	const ElfW(Sym) *symbols;
	const char *names;		/* of the symbols, and the SONAME */
	size_t names_size;
	size_t soname;			/* offset in names */
	const uint32_t *gnu_hash;
	struct loaded_relocations relocations[LOADED_TABLES];
	const ElfW(Phdr) *segments;	/* only from loaded_each() */
	unsigned segment_count;
};

/* Reads the dynamic section of an object with this load address. */
void loaded_read(ElfW(Addr) base, const ElfW(Dyn) *dynamic, struct loaded *loaded);

/*
 * Visits the objects in the loader's order, until visit() returns other than 0. Returns the result
 * of the last visit.
 */
int loaded_each(int (*visit)(const struct loaded *loaded, void *arg), void *arg);

/* Returns the string at this offset of the object's names, "" if that is outside of them. */
const char *loaded_name(const struct loaded *loaded, size_t offset);

/* Returns the object's SONAME, "" if it has none. */
const char *loaded_soname(const struct loaded *loaded);

/*
 * Returns the address of a function that the object itself defines, else NULL. Reads DT_GNU_HASH,
 * which every glibc and libdl since 2006 has.
 */
void *loaded_symbol(const struct loaded *loaded, const char *name);

/* Whether the address is in a segment of the object. @loaded: from loaded_each() */
bool loaded_contains(const struct loaded *loaded, const void *address);

/* Whether a relocation of the object refers to a name that match() accepts. */
bool loaded_refers(const struct loaded *loaded, bool (*match)(const char *name));

/*
 * Whether a string in a read-only segment is, or ends with, a name "ibv_..." that match() accepts.
 * The names of the object's symbols do not count.
 * @loaded: from loaded_each()
 */
bool loaded_mentions(const struct loaded *loaded, bool (*match)(const char *name));

#endif
