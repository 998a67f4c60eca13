/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat selftest`: the whole legacy exchange on a device of this machine. The exchange is in
 * a program of its own, compiled and linked as old programs were; here it is only started, as
 * `xrc-compat run` starts any other.
 */
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/program/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of xrc-compat-selftest. */
enum { PROGRAM, DEVICE, PORT, ROLE, HOST, END };

static bool is_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return text[0] >= '0' && text[0] <= '9' && !*end && port >= 1 && port <= 65535;
}

static int set_option(struct launch *launch, int option, char *value)
{
	char **words = launch->program, *role = (char *)(option == 'l' ? "listen" : "connect");

	if (option == 'd') {
		words[DEVICE] = value;
	} else if (option == 'p' && is_port(value)) {
		words[PORT] = value;
	} else if (option == 'p') {
		return refuse(TOOL_EXIT_REFUSED,
			      "selftest: --port: a port is a number from 1 to 65535");
	} else if (option == 'l' || option == 'c') {
		if (words[ROLE] && strcmp(words[ROLE], role) != 0) {
			refuse(0, "selftest: --listen and --connect exclude each other");
			return advise_usage(launch->self);
		}
		words[ROLE] = role;
		words[HOST] = option == 'l' ? NULL : value;
	} else if (!launch_option(launch, option, value)) {
		return refuse_word(launch->self, value);
	}
	return 0;
}

int command_selftest(const struct command *self, int argc, char **argv)
{
	char *program[END + 1] = { NULL, (char *)"", (char *)"18515" };
	struct option_words words = { self, argv + 1, NULL };
	struct launch launch = { .self = self, .program = program };
	struct string_list places = { 0 };
	int option, status = 0;

	(void)argc;
	while (!status && (option = options_next(&words)) != OPTIONS_END)
		status = option == OPTION_WRONG ? TOOL_EXIT_REFUSED
						: set_option(&launch, option, (char *)words.value);
	if (status)
		return status;
	program[PROGRAM] = (char *)paths_helper("selftest/xrc-compat-selftest", &places);
	if (!program[PROGRAM])
		return refuse(TOOL_EXIT_REFUSED,
			      "xrc-compat-selftest is not there (first looked for: %s)",
			      places.item[0]);
	return launch_program(&launch);
}
