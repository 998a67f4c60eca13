/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program without XRC that runs a plugin with XRC, kind.c: kind-host plugin=FILE [WORD...]. The
 * plugin's first domain must leave no signal blocked.
 */

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1] + sizeof("plugin=") - 1, RTLD_LAZY) : NULL;
	int (*run)(int, char **) =
		(int (*)(int, char **))(plugin ? dlsym(plugin, "plugin_main") : NULL);
	sigset_t blocked;

	if (!run) {
		fprintf(stderr, "kind-host: %s\n", dlerror());
		return 1;
	}
	if (run(argc - 1, argv + 1))
		return 1;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	if (sigismember(&blocked, SIGTERM))
		fputs("kind-host: SIGTERM is blocked\n", stderr);
	return sigismember(&blocked, SIGTERM);
}
