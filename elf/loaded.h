/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The loaded objects of the process, read from their dynamic sections.
 *
 * For questions that dlsym cannot answer: what an object refers to, and where the loader's own
 * dlsym and dlvsym are, although those names lead to our functions. Nothing here allocates.
 */
#ifndef ELF_LOADED_H
#define ELF_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_relocations {
	const char *start;
	size_t size;
	bool addends;	/* the table is of ElfW(Rela), else of ElfW(Rel) */
};

/**
 * struct loaded - one object; members it does not have are NULL or 0. Valid while the object is
 * loaded.
 */
struct loaded {
	ElfW(Addr) base;
	const ElfW(Sym) *symbols;
	const char *names;
	size_t names_size;
	size_t soname;			/* offset in names, 0: none */
	const uint32_t *gnu_hash;
	const uint32_t *hash;
	struct loaded_relocations relocations[3];
	const ElfW(Phdr) *segments;	/* only from loaded_each() */
	unsigned segment_count;
};

/** loaded_read - read the dynamic section of an object with this load address. */
void loaded_read(ElfW(Addr) base, const ElfW(Dyn) *dynamic, struct loaded *loaded);

/**
 * loaded_each - visit all objects in the loader's order until a visit returns other than 0, which
 * is returned.
 */
int loaded_each(int (*visit)(const struct loaded *loaded, void *arg), void *arg);

/** loaded_generation - changes whenever an object is loaded. */
unsigned long long loaded_generation(void);

/**
 * loaded_symbol - the address at which the object itself defines a function, NULL if it does not.
 */
void *loaded_symbol(const struct loaded *loaded, const char *name);

/** loaded_refers - whether a relocation of the object asks for a name that match accepts. */
bool loaded_refers(const struct loaded *loaded, bool (*match)(const char *name));

/**
 * loaded_mentions - whether a string in a read-only segment of the object is, or ends with, a
 * verb's name that match accepts. Names of its symbols do not count. Only for an object from
 * loaded_each().
 */
bool loaded_mentions(const struct loaded *loaded, bool (*match)(const char *name));

/** loaded_soname - the object's SONAME, "" if it has none. */
const char *loaded_soname(const struct loaded *loaded);

#endif
