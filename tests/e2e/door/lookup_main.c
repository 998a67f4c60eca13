/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An old program that is not linked with libibverbs and looks the verbs up: lookup [WAY]. */

#include "exchange.h"

int main(int argc, char **argv)
{
	struct verbs verbs;

	table_lookup(&verbs, argc > 1 ? argv[1] : "dlsym");
	exchange(&verbs);
	return 0;
}
