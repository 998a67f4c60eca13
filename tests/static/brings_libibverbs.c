/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A library that is linked against libibverbs. The test of the shim's dependencies must notice that
 * mistake.
 */
#include <infiniband/verbs.h>

int brings_libibverbs(void);

int brings_libibverbs(void)
{
	int count = 0;

	ibv_free_device_list(ibv_get_device_list(&count));
	return count;
}
