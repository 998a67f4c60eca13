/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What single old programs need besides the library: variables with the value that they have unless
 * the user sets another.
 */
#ifndef TOOLS_QUIRKS_H
#define TOOLS_QUIRKS_H

#define QUIRKS(X) \
	/* MVAPICH2 2.3 opens what this names, or libibverbs.so of development packages. */ \
	X("MV2_LIBIBVERBS_PATH", "libibverbs.so.1")

#endif
