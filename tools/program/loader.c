/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Runs ld.so as ldd does, and reads its lines. Not `ld.so --list`: that ends at the first library
 * that is missing.
 */
#include "loader.h"
#include "tools/common/aside.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file server may be slow. A FIFO with the name of a library stops the loader for ever. */
#define TIMEOUT_MILLISECONDS 5000

#define FAILURE "error while loading shared libraries: "

/* Never the program's PT_INTERP: it may name any file, and that file would be run. */
static const char *loader_of(const struct elf_info *kind)
{
	static const struct {
		unsigned int machine;
		int bits;
		const char *path;
	} loaders[] = {
#if defined(__x86_64__) || defined(__i386__)
		{ EM_X86_64, 64, "/lib64/ld-linux-x86-64.so.2" },
		{ EM_386, 32, "/lib/ld-linux.so.2" },
#elif defined(__aarch64__)
		{ EM_AARCH64, 64, "/lib/ld-linux-aarch64.so.1" },
#endif
	};

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		if (loaders[i].machine == kind->machine && loaders[i].bits == kind->bits &&
		    !access(loaders[i].path, X_OK))
			return loaders[i].path;
	}
	return NULL;
}

static void set_environment(const void *context)
{
	static const char *const others[] = {
		"LD_AUDIT", "LD_BIND_NOW", "LD_DEBUG", "LD_DEBUG_OUTPUT", "LD_SHOW_AUXV",
		"LD_VERBOSE", "LD_WARN",
	};
	const struct loader_question *question = context;

	setenv("LD_PRELOAD", question->preload ? question->preload : "", 1);
	if (question->system_only)
		unsetenv("LD_LIBRARY_PATH");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		unsetenv(others[i]);
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
}

/* "\tNAME => PATH (0x...)", "\tNAME => not found" or "\tPATH (0x...)". */
static void read_line(char *line, struct loader_answer *answer)
{
	char *path = strstr(line, " => ");
	char *address = strstr(path ? path : line, " (0x");
	const char *failure = strstr(line, FAILURE);

	if (failure && !answer->failure)
		answer->failure = copy_string(failure + strlen(FAILURE));
	if (address)
		*address = '\0';
	/* A line without a tab is the rest of a name that has a line break. */
	if (!path && (line[0] != '\t' || line[1] != '/'))
		return;
	if (path)
		*path = '\0';
	line += line[0] == '\t';
	path = path ? path + strlen(" => ") : line;
	string_list_add(&answer->name, line);
	string_list_add(&answer->path, path[0] == '/' ? path : "");
}

int loader_ask(const struct loader_question *question, struct loader_answer *answer)
{
	const char *loader = loader_of(question->kind);
	char object[PATH_MAX];
	char *const words[] = { (char *)loader, object, NULL };
	const struct aside_program program = { words, set_environment, question, true };
	char *text, *rest, *line;
	int err;

	memset(answer, 0, sizeof(*answer));
	/*
	 * Without symbolic links: $ORIGIN is the folder of the program itself, not of a link to it.
	 */
	if (question->kind->is_audited || elf_info_is_static(question->kind) || !loader ||
	    !realpath(question->object, object))
		return -ENOENT;
	text = rest = aside_output(&program, TIMEOUT_MILLISECONDS, &err);
	while ((line = strsep(&rest, "\n")) != NULL)
		read_line(line, answer);
	free(text);
	if (err == -ETIMEDOUT && !answer->failure)
		answer->failure = copy_string("the loader does not return from opening a library");
	else if (err == -EIO && !answer->failure)
		answer->failure = copy_string("the loader crashes");
	return 0;
}

void loader_answer_free(struct loader_answer *answer)
{
	string_list_free(&answer->name);
	string_list_free(&answer->path);
	free(answer->failure);
	memset(answer, 0, sizeof(*answer));
}

bool loader_find_system(const char *name, const struct elf_info *kind, const char *object,
			char *path)
{
	struct loader_question question = {
		.kind = kind, .object = object, .preload = name, .system_only = true
	};
	struct loader_answer answer;
	bool found = false;

	loader_ask(&question, &answer);
	for (size_t i = 0; !found && i < answer.name.count; i++) {
		found = !strcmp(answer.name.item[i], name) && answer.path.item[i][0];
		if (found)
			snprintf(path, PATH_MAX, "%s", answer.path.item[i]);
	}
	loader_answer_free(&answer);
	return found;
}
