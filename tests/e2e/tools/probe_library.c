/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Stands in for the shim where a test only looks at what is preloaded: it prints that it was
 * loaded.
 */
#include <stdio.h>

__attribute__((constructor)) static void loaded(void)
{
	fputs("probe library loaded\n", stderr);
}
