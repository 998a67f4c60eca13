/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The kind of the program, by the symbols that the loaded objects refer to. */
#include "program.h"
#include "log.h"
#include "settings.h"
#include "state.h"

#include <elf/loaded.h>

#include <string.h>

static atomic_bool rcv_qp_looked_up;

atomic_int program_kind;

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

void program_note_lookup(const char *name)
{
	if (names_rcv_qp(name))
		atomic_store_explicit(&rcv_qp_looked_up, true, memory_order_relaxed);
	if (names_domain(name))
		program_note_xrc();
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

/*
 * The loader has a lock, which stays taken in a child that is forked meanwhile. A fork waits for
 * our lock, so the loader is asked with that lock held.
 */
static bool refers_to(names_fn names)
{
	return loaded_each(inspect_references, &names) || loaded_each(inspect_literals, &names);
}

/* Asked for each XRC QP: it searches again only after an object was loaded. */
static bool refers_to_rcv_qp_by_now(void)
{
	static unsigned long long generation;	/* of the last search */
	static bool refers;
	unsigned long long now;
	bool found;

	state_lock();
	now = loaded_generation();
	if (generation != now)
		refers = refers_to(names_rcv_qp);
	generation = now;
	found = refers;
	state_unlock();
	return found;
}

void program_note_xrc(void)
{
	atomic_store_explicit(&program_kind, PROGRAM_HAS_XRC, memory_order_relaxed);
}

void program_find_kind(void)
{
	int unknown = PROGRAM_UNKNOWN;
	enum program_kind found;

	state_lock();
	found = refers_to(names_domain) ? PROGRAM_HAS_XRC : PROGRAM_ORDINARY;
	state_unlock();
	/* Another thread may have noted XRC meanwhile. */
	atomic_compare_exchange_strong_explicit(&program_kind, &unknown, found,
						memory_order_release, memory_order_relaxed);
}

bool program_is_two_way(bool receive_only)
{
	static bool warned;

	switch (settings()->two_way) {
	case TWO_WAY_ON:
		return true;
	case TWO_WAY_OFF:
		return false;
	case TWO_WAY_UNKNOWN:
		log_once(warned, "XRC_COMPAT_TWO_WAY=%s is none of auto, on, off: taken as auto",
			 settings()->two_way_text);
		break;
	case TWO_WAY_AUTO:
		break;
	}
	return receive_only || (!atomic_load_explicit(&rcv_qp_looked_up, memory_order_relaxed) &&
				!refers_to_rcv_qp_by_now());
}
