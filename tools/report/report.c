/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat report`: reads the options, and executes the script that writes the report. */
#include "tools/common/command.h"
#include "tools/common/memory.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/program/paths.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct report_options {
	const char *output;
	struct launch launch;	/* options for the self-test */
	const char *program;
};

static int parse(const struct command *self, char **argv, struct report_options *options)
{
	struct option_words words = { self, argv + 1, NULL };
	int option;

	while ((option = options_next(&words)) > 0) {
		if (option == 'o')
			options->output = words.value;
		else if (option != OPTION_OPERAND)
			launch_option(&options->launch, option, words.value);
		else if (options->program[0])
			return refuse_word(self, words.value);
		else
			options->program = words.value;
	}
	return option ? TOOL_EXIT_REFUSED : 0;
}

/* The option as the self-test takes it; "" without a value. */
static const char *option_word(const char *name, const char *value)
{
	return value ? format_string("%s%s%s", name, value[0] ? "=" : "", value) : "";
}

int command_report(const struct command *self, int argc, char **argv)
{
	struct report_options options = { .output = "xrc-compat-report.md", .program = "" };
	struct string_list places = { 0 };
	char command[PATH_MAX];
	const char *script;

	(void)argc;
	if (parse(self, argv, &options))
		return TOOL_EXIT_REFUSED;
	script = paths_helper("report/xrc-compat-report", &places);
	if (!script || paths_self(command, sizeof(command)))
		return refuse(TOOL_EXIT_REFUSED,
			      "xrc-compat-report is not there (first looked for: %s)",
			      places.item[0]);
	execl(script, script, command, options.output,
	      option_word("--softhca", options.launch.softhca),
	      option_word("--model", options.launch.model), options.program, NULL);
	return refuse(TOOL_EXIT_REFUSED, "%s: %s", script, strerror(errno));
}
