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

#define LONGEST_DEVICE 63

/* Makes the arguments of xrc-compat-selftest. */
enum { PROGRAM, DEVICE, PORT, ROLE, HOST, END };

static bool is_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return text[0] >= '0' && text[0] <= '9' && !*end && port >= 1 && port <= 65535;
}

static int set_option(struct launch *launch, int option, char *value)
{
	static char listen[] = "listen", connect[] = "connect";
	char **words = launch->program;

	if (option == 'd') {
		words[DEVICE] = value;
	} else if (option == 'p') {
		words[PORT] = value;
	} else if (option == 'l' || option == 'c') {
		if (words[ROLE] && words[ROLE] != (option == 'l' ? listen : connect)) {
			refuse(0, "selftest: --listen and --connect exclude each other");
			return advise_usage(launch->self);
		}
		words[ROLE] = option == 'l' ? listen : connect;
		words[HOST] = option == 'l' ? NULL : value;
	} else if (!launch_option(launch, option, value)) {
		return refuse_word(launch->self, value);
	}
	return 0;
}

int command_selftest(const struct command *self, int argc, char **argv)
{
	char path[PATH_MAX], *program[END + 1] = { path, (char *)"", (char *)"18515" };
	struct option_words words = { self, argv + 1, NULL };
	struct launch launch = { .self = self, .program = program };
	struct string_list places = { 0 };
	const char *found;
	int option, status = 0;

	(void)argc;
	while (!status && (option = options_next(&words)) != OPTIONS_END)
		status = option == OPTION_WRONG ? TOOL_EXIT_REFUSED
						: set_option(&launch, option, (char *)words.value);
	if (status)
		return status;
	if (strlen(program[DEVICE]) > LONGEST_DEVICE)
		return refuse(TOOL_EXIT_REFUSED,
			      "selftest: --device: no device has so long a name");
	if (!is_port(program[PORT]))
		return refuse(TOOL_EXIT_REFUSED,
			      "selftest: --port: a port is a number from 1 to 65535");
	found = paths_helper("selftest/xrc-compat-selftest", &places);
	if (!found)
		return refuse(TOOL_EXIT_REFUSED,
			      "xrc-compat-selftest is not there (first looked for: %s)",
			      places.item[0]);
	snprintf(path, sizeof(path), "%s", found);
	return launch_program(&launch);
}
