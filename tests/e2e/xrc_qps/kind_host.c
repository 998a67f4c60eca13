/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program without XRC that runs a plugin with XRC, kind.c: kind-host plugin=FILE [WORD...]. */

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1] + sizeof("plugin=") - 1, RTLD_LAZY) : NULL;
	int (*run)(int, char **) =
		(int (*)(int, char **))(plugin ? dlsym(plugin, "plugin_main") : NULL);

	if (!run) {
		fprintf(stderr, "kind-host: %s\n", dlerror());
		return 1;
	}
	return run(argc - 1, argv + 1);
}
