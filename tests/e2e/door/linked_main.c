/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An old program that is linked with libibverbs. Also compiled as C++. */

#include "exchange.h"

int main(void)
{
	struct verbs verbs;

	table_linked(&verbs);
	exchange(&verbs);
	exchange_print_libraries();
	return 0;
}
