/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The verbs as the linker and the loader bind them. Also compiled as C++. */

#include "exchange.h"

void table_linked(struct verbs *verbs)
{
#define X(name) verbs->name = ibv_##name;
	EXCHANGE_VERBS(X)
#undef X
}
