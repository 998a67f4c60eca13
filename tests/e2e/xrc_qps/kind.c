/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Creates one XRC QP, after it has done what its arguments say: plugin=FILE loads a plugin,
 * dlsym=NAME and dlvsym=NAME look a function up in libibverbs. Compiled with -DREFERS_TO it refers
 * to that function without calling it; with -DLATE it looks that function up after it has created
 * its QP; with -DSAYS it only contains that text; with -DPLUGIN it is the plugin of kind-host.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "side.h"
#include <harness/row.h>

#ifdef REFERS_TO
/* Visible, so that the compiler must keep it. */
__attribute__((visibility("default"))) void never_called(void);

void never_called(void)
{
	REFERS_TO(NULL, 0);
}
#endif

static void *libibverbs(void)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW);

	must(library);
	return library;
}

static void obey(const char *word)
{
	if (!strncmp(word, "plugin=", 7))
		must(dlopen(word + 7, RTLD_LAZY));
	else if (!strncmp(word, "dlsym=", 6))
		must(dlsym(libibverbs(), word + 6));
	else if (!strncmp(word, "dlvsym=", 7))
		must(dlvsym(libibverbs(), word + 7, "IBVERBS_1.1"));
	else
		row_fail(__FILE__, __LINE__, "no such word: %s", word);
}

#ifdef PLUGIN
#define main plugin_main
__attribute__((visibility("default"))) int plugin_main(int argc, char **argv);
#endif

int main(int argc, char **argv)
{
	struct side side;

	row_begin("creates an XRC QP");
	row_inherit("");
	for (int i = 1; i < argc; i++)
		obey(argv[i]);
	side_open(&side, 0, -1, false);
	side_create_qp(&side, 16);
#ifdef LATE
	must(dlsym(libibverbs(), LATE));
#endif
#ifdef SAYS
	if (argc > 100)
		puts(SAYS);
#endif
	side_close(&side);
	row_ok();
	return 0;
}
