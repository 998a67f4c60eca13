/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program with two libraries that use XRC: one is linked with libibverbs, the other looks the
 * verbs up. The exchange takes its verbs from the two by turns, so both work on the same objects.
 */

#include <stddef.h>

#include "exchange.h"

#define VERBS (sizeof(struct verbs) / sizeof(void *))

union table {
	struct verbs verbs;
	void *function[VERBS];
};

static void mixed_exchange(const union table *one, const union table *other)
{
	union table mixed;

	for (size_t i = 0; i < VERBS; i++)
		mixed.function[i] = (i & 1 ? one : other)->function[i];
	exchange(&mixed.verbs);
}

int main(void)
{
	union table linked, lookup;

	table_linked(&linked.verbs, "");
	table_lookup(&lookup.verbs, "");
	mixed_exchange(&linked, &lookup);
	mixed_exchange(&lookup, &linked);
	return 0;
}
