/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The kind of the program, by the symbols that the loaded objects refer to. */
#include "program.h"

#include <base/settings.h>
#include <elf/loaded.h>
#include <elf/loader.h>

#include <string.h>

/*
 * PROGRAM_HAS_XRC is its last value. Another library's constructor may call a verb, which makes the
 * program ordinary, before our constructor searches.
 */
atomic_int program_kind;

static atomic_bool rcv_qp_looked_up;

/* Which XRC QPs the loaded objects use. The constructor searches, or the first domain. */
enum way { WAY_NOT_SEARCHED, WAY_ONE, WAY_BOTH };
static atomic_int way;

typedef bool (*names_fn)(const char *name);

/* Each program with receive QPs has to call one of these. */
static bool names_rcv_qp(const char *name)
{
	return !strcmp(name, "ibv_create_xrc_rcv_qp") || !strcmp(name, "ibv_reg_xrc_rcv_qp");
}

/* Each program that uses XRC has to call this. */
static bool names_domain(const char *name)
{
	return !strcmp(name, "ibv_open_xrc_domain");
}

static bool names_lookup(const char *name)
{
	return !strcmp(name, "dlsym") || !strcmp(name, "dlvsym");
}

static int inspect_references(const struct loaded *loaded, void *names)
{
	return loaded_refers(loaded, *(names_fn *)names);
}

/*
 * An object that looks up a function contains its name. An object that defines dlsym does not
 * count: it passes on what its callers look up.
 */
static int inspect_literals(const struct loaded *loaded, void *names)
{
	return loaded_refers(loaded, names_lookup) && !loaded_symbol(loaded, "dlsym") &&
	       loaded_mentions(loaded, *(names_fn *)names);
}

static bool refers_to(names_fn names)
{
	return loaded_each(inspect_references, &names) || loaded_each(inspect_literals, &names);
}

static void search_way(void)
{
	atomic_store(&way, refers_to(names_rcv_qp) ? WAY_ONE : WAY_BOTH);
}

void program_search(void)
{
	if (!refers_to(names_domain))
		return;
	search_way();
	atomic_store_explicit(&program_kind, PROGRAM_HAS_XRC, memory_order_relaxed);
}

void program_set_kind(void)
{
	int unknown = PROGRAM_UNKNOWN;

	atomic_compare_exchange_strong_explicit(&program_kind, &unknown, PROGRAM_ORDINARY,
						memory_order_release, memory_order_relaxed);
}

void program_note_lookup(const char *name)
{
	if (names_rcv_qp(name))
		atomic_store_explicit(&rcv_qp_looked_up, true, memory_order_relaxed);
	if (names_domain(name))
		atomic_store_explicit(&program_kind, PROGRAM_HAS_XRC, memory_order_relaxed);
}

void program_note_xrc(void)
{
	sigset_t before;

	atomic_store_explicit(&program_kind, PROGRAM_HAS_XRC, memory_order_relaxed);
	if (atomic_load(&way) != WAY_NOT_SEARCHED)
		return;
	loader_hold_signals(&before);
	search_way();
	loader_release_signals(&before);
}

bool program_is_two_way(void)
{
	if (settings.two_way != TWO_WAY_AUTO)
		return settings.two_way == TWO_WAY_ON;
	return atomic_load_explicit(&way, memory_order_relaxed) == WAY_BOTH &&
	       !atomic_load_explicit(&rcv_qp_looked_up, memory_order_relaxed);
}
