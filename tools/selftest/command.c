/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat selftest`: the whole legacy exchange on a device of this machine. The exchange is in a program of its own, compiled
 * and linked as old programs were; here it is only started, as `xrc-compat run` starts any other.
 */
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/program/paths.h"

#include <stdio.h>

#define MAX_WORDS 24

int command_selftest(const struct command *self, int argc, char **argv)
{
	struct option_words words = { self, argv + 1, NULL };
	char path[PATH_MAX], *program[MAX_WORDS + 1] = { path };
	struct launch launch = { .self = self, .program = program };
	struct path_candidates candidates;
	int option, count = 1;
	char **from = words.word;

	(void)argc;
	/* The program takes each option in one word or two, as this command does. */
	for (; (option = options_next(&words)) > 0; from = words.word) {
		if (option == OPTION_OPERAND)
			return refuse_word(self, words.value);
		if (launch_option(&launch, option, words.value))
			continue;
		if (count + 2 > MAX_WORDS)
			return refuse_word(self, *from);
		while (from < words.word)
			program[count++] = *from++;
	}
	if (option)
		return TOOL_EXIT_REFUSED;
	paths_helper("selftest/xrc-compat-selftest", &candidates);
	if (!paths_first(&candidates))
		return refuse(TOOL_EXIT_REFUSED, "xrc-compat-selftest is not there (first looked for: %s)", candidates.path[0]);
	snprintf(path, sizeof(path), "%s", paths_first(&candidates));
	return launch_program(&launch);
}
