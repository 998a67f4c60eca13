/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which of two kinds of program this is: what the loaded objects refer to. */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <elf/loaded.h>

#include <compat/base/log.h>

#include "two_way.h"

static atomic_bool looked_up;

/* Both ends of a receive QP's life begin with one of these; modify, query and unreg never come without. */
static bool names_rcv_qp(const char *name)
{
	return !strcmp(name, "ibv_create_xrc_rcv_qp") || !strcmp(name, "ibv_reg_xrc_rcv_qp");
}

void two_way_note_lookup(const char *name)
{
	if (names_rcv_qp(name))
		atomic_store_explicit(&looked_up, true, memory_order_relaxed);
}

static bool names_lookup(const char *name)
{
	return !strcmp(name, "dlsym") || !strcmp(name, "dlvsym");
}

static int inspect_references(const struct loaded *loaded, void *arg)
{
	(void)arg;
	return loaded_refers(loaded, names_rcv_qp);
}

/* Who is going to look one up has its name. One that defines dlsym, as we do, hands the look-ups of others on. */
static int inspect_literals(const struct loaded *loaded, void *arg)
{
	(void)arg;
	return loaded_refers(loaded, names_lookup) && !loaded_symbol(loaded, "dlsym") && loaded_mentions(loaded, names_rcv_qp);
}

static bool refers_to_none(void)
{
	/* Generation and answer in one word, so that no lock is needed: the answer is in the lowest bit. */
	static _Atomic unsigned long long cache;
	unsigned long long generation = loaded_generation() << 1;
	unsigned long long known = atomic_load_explicit(&cache, memory_order_relaxed);

	if ((known & ~1ull) != generation) {
		known = generation | !(loaded_each(inspect_references, NULL) || loaded_each(inspect_literals, NULL));
		atomic_store_explicit(&cache, known, memory_order_relaxed);
	}
	return known & 1;
}

static bool decide(bool receive_only)
{
	return receive_only || (!atomic_load_explicit(&looked_up, memory_order_relaxed) && refers_to_none());
}

bool two_way_program(bool receive_only)
{
	const char *setting = secure_getenv("XRC_COMPAT_TWO_WAY");
	static bool warned;

	if (!setting || !*setting || !strcmp(setting, "auto"))
		return decide(receive_only);
	if (!strcmp(setting, "on"))
		return true;
	if (!strcmp(setting, "off"))
		return false;
	log_once(warned, "XRC_COMPAT_TWO_WAY=%s is none of auto, on, off: taken as auto", setting);
	return decide(receive_only);
}
