/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A plugin that is linked with libibverbs (LINKED), or that looks the verbs up. */

#include "exchange.h"

int live(void);

__attribute__((visibility("default"))) int live(void)
{
	struct verbs verbs;

#ifdef LINKED
	table_linked(&verbs);
#else
	if (table_lookup(&verbs, "dlsym"))
		return 1;
#endif
	return exchange(&verbs);
}
