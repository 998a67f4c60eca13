/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Searches the strings in an object's read-only segments for names of verbs. */
#include "loaded.h"

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
