/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Started with the library preloaded, on a machine that need not have a libibverbs of its class:
 * checks that dlvsym finds a function of the library, which returns an errno, and that dlsym still
 * finds libc's functions.
 */

#include <dlfcn.h>
#include <stdio.h>

typedef int close_domain_fn(void *domain);

static int check(const char *what, int good)
{
	printf("%s: %s\n", what, good ? "yes" : "no");
	return good ? 0 : 1;
}

int main(void)
{
	close_domain_fn *close_domain =
		(close_domain_fn *)dlvsym(RTLD_DEFAULT, "ibv_close_xrc_domain", "IBVERBS_1.1");
	size_t (*length)(const char *) = (size_t (*)(const char *))dlsym(RTLD_DEFAULT, "strlen");
	int bad = 0;

	bad |= check("versioned symbol", close_domain != NULL);
	bad |= check("returns an errno", close_domain && close_domain(NULL) > 0);
	bad |= check("hidden from plain dlsym", !dlsym(RTLD_DEFAULT, "ibv_close_xrc_domain"));
	bad |= check("libc's functions", length && length("four") == 4);
	bad |= check("unknown name", !dlsym(RTLD_DEFAULT, "no_such_function") && dlerror());
	return bad;
}
