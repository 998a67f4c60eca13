/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Started with the library preloaded, on a machine that need not have a libibverbs of its class.
 * Status 0: dlvsym finds a function of the library, which returns an errno.
 */

#include <dlfcn.h>
#include <stddef.h>

typedef int close_domain_fn(void *domain);

int main(void)
{
	close_domain_fn *close_domain =
		(close_domain_fn *)dlvsym(RTLD_DEFAULT, "ibv_close_xrc_domain", "IBVERBS_1.1");

	return !close_domain || close_domain(NULL) <= 0;
}
