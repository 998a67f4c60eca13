/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Calls dlsym or dlvsym, and prints the library in which the found function is: ask
 * HANDLE:NAME[:VERSION]... HANDLE is default, next, self, interposer (libinterposer calls with its
 * own RTLD_NEXT) or a library to open. The NAME "NULL" is a null pointer. Each question has a
 * process of its own, because some crash.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *ask_fn(const char *name, const char *version);

static void *handle_of(const char *word)
{
	void *handle;

	if (!strcmp(word, "default"))
		return RTLD_DEFAULT;
	if (!strcmp(word, "next"))
		return RTLD_NEXT;
	handle = dlopen(!strcmp(word, "self") ? NULL : word, RTLD_NOW);
	if (!handle)
		printf("dlopen: %s ", dlerror());
	return handle;
}

static void *ask(const char *word, const char *name, const char *version)
{
	void *function;

	if (!strcmp(word, "interposer")) {
		ask_fn *interposer;

		function = dlsym(RTLD_DEFAULT, "interposer_next");
		memcpy(&interposer, &function, sizeof(function));
		return function ? interposer(name, version) : NULL;
	}
	return version ? dlvsym(handle_of(word), name, version) : dlsym(handle_of(word), name);
}

static void answer(char *question)
{
	const char *word = strtok(question, ":"), *name = strtok(NULL, ":"),
		   *version = strtok(NULL, ":"), *err;
	Dl_info info = { .dli_fname = "nowhere" };
	void *found;

	found = ask(word, name && !strcmp(name, "NULL") ? NULL : name, version);
	err = dlerror();
	if (found && dladdr(found, &info))
		printf("%s", strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1
							  : info.dli_fname);
	else
		printf("%s", found ? "somewhere" : "NULL");
	printf("%s%s\n", err ? " " : "", err ? err : "");
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	int status;

	for (int i = 1; i < argc; i++) {
		pid_t child = fork();

		if (!child)
			answer(argv[i]);
		if (child < 0 || waitpid(child, &status, 0) != child)
			return 1;
		if (WIFSIGNALED(status))
			printf("signal %d\n", WTERMSIG(status));
		fflush(stdout);
	}
	return 0;
}
