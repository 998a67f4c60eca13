/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat selftest`: the whole legacy exchange on a device of this machine. The exchange is in a program of its own, compiled
 * and linked as old programs were; here it is only started, as `xrc-compat run` starts any other.
 */
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/paths.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_ARGUMENTS 16

static bool takes_value(const char *option)
{
	return !strcmp(option, "--device") || !strcmp(option, "--connect") || !strcmp(option, "--port");
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
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--softhca", 9))
			continue;
		if (strcmp(argv[i], "--listen") && (!takes_value(argv[i]) || i + 1 == argc))
			return -i;
		sorted[count++] = argv[i];
		if (takes_value(argv[i]))
			sorted[count++] = argv[++i];
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
