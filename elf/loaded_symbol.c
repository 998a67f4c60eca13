/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds a function that an object defines, by the object's hash table. */
#include "loaded.h"

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

/* The table has defined symbols only. NULL: symbol @index is no function of this name. */
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
 * The table begins with four numbers: of the buckets, of the first hashed symbol, of the Bloom
 * words, and the Bloom shift. The Bloom words, the buckets and the chains follow.
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
	if (!loaded->symbols || !loaded->names || !loaded->gnu_hash)
		return NULL;
	return find_by_gnu_hash(loaded, name);
}
