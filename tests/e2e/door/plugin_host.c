/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program that is not linked with libibverbs and loads a plugin that is, with RTLD_LOCAL, as Open
 * MPI loads its components. Usage: plugin-host lazy|now PLUGIN.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int (*plugin_main)(void);
	void *plugin;

	if (argc != 3)
		return 2;
	plugin = dlopen(argv[2], RTLD_LOCAL | (strcmp(argv[1], "now") ? RTLD_LAZY : RTLD_NOW));
	if (!plugin) {
		printf("plugin: %s\n", dlerror());
		return 1;
	}
	*(void **)&plugin_main = dlsym(plugin, "plugin_main");
	return plugin_main ? plugin_main() : 1;
}
