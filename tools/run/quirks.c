/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What single old programs need besides the library: environment defaults, one row each, with the reason. */
#include "quirks.h"

#include <stdlib.h>

const struct quirk quirks[] = {
	/* MVAPICH2 2.3 opens the library that this names, or libibverbs.so, which only development packages install. */
	{ "MV2_LIBIBVERBS_PATH", "libibverbs.so.1" },
};

const size_t quirks_count = sizeof(quirks) / sizeof(quirks[0]);

int quirks_apply(void)
{
	for (size_t i = 0; i < quirks_count; i++)
		if (setenv(quirks[i].name, quirks[i].value, 0))
			return -1;
	return 0;
}
