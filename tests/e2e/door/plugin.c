/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A plugin that is linked with libibverbs (LINKED), or that looks the verbs up. */

#include "exchange.h"

int plugin_main(void);

__attribute__((visibility("default"))) int plugin_main(void)
{
	struct verbs verbs;

#ifdef LINKED
	table_linked(&verbs);
#else
	table_lookup(&verbs, "dlsym");
#endif
	exchange(&verbs);
	return 0;
}
