/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat selftest`: the whole legacy exchange on a device of this machine. The exchange is in a program of its own, compiled
 * and linked as old programs were; here it is only started, as `xrc-compat run` starts any other.
 */
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/program/paths.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_ARGUMENTS 16

/* How many words an option of the self-test is: 2 with its value behind it, 1 without, or as in "--port=1". 0: it is none. */
static int option_words(const char *word)
{
	static const char *const with_value[] = { "--device", "--connect", "--port" };

	for (size_t i = 0; i < sizeof(with_value) / sizeof(with_value[0]); i++) {
		size_t length = strlen(with_value[i]);

		if (strncmp(word, with_value[i], length))
			continue;
		if (!word[length] || word[length] == '=')
			return word[length] ? 1 : 2;
	}
	return !strcmp(word, "--listen");
}

/* run's own options come first, then the program, then what is meant for it. */
static int sort_arguments(int argc, char **argv, char *program, char **sorted)
{
	int count = 0;

	sorted[count++] = argv[0];
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--softhca", 9))
			sorted[count++] = argv[i];
	}
	sorted[count++] = program;
	for (int i = 1, words; i < argc; i += words) {
		bool of_run = !strncmp(argv[i], "--softhca", 9);

		words = of_run ? 1 : option_words(argv[i]);
		if (!words || words > argc - i)
			return -i;
		for (int k = 0; !of_run && k < words; k++)
			sorted[count++] = argv[i + k];
	}
	return count;
}

int command_selftest(const struct command *self, int argc, char **argv)
{
	char *sorted[MAX_ARGUMENTS + 3] = { NULL };
	struct path_candidates candidates;
	const char *program;
	char path[PATH_MAX];
	int count;

	if (argc > MAX_ARGUMENTS)
		return refuse_word(self, argv[MAX_ARGUMENTS]);
	paths_helper("selftest/xrc-compat-selftest", &candidates);
	program = paths_first(&candidates);
	if (!program)
		return refuse(TOOL_EXIT_REFUSED, "xrc-compat-selftest is not there (first looked for: %s)", candidates.path[0]);
	snprintf(path, sizeof(path), "%s", program);
	count = sort_arguments(argc, argv, path, sorted);
	return count < 0 ? refuse_word(self, argv[-count]) : command_run(self, count, sorted);
}
