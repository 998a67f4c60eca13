/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat env-vars`: prints the table of tools/common/variables.h. */
#include "tools/common/variables.h"
#include "tools/common/common.h"

#include <stdio.h>

static void print_variable(const char *name, const char *value_if_unset, const char *read_when,
			   const char *help)
{
	printf("  %s\n", name);
	print_entry("", 8, help);
	print_entry("        default:", 17, value_if_unset);
	print_entry("        read:", 17, read_when);
}

void env_vars_print(void)
{
#define ROW(NAME, DEFAULT, READ_WHEN, HELP) print_variable(#NAME, DEFAULT, READ_WHEN, HELP);
	XRC_COMPAT_ENV_TABLE(ROW)
#undef ROW
}

static int run_env_vars(char **words)
{
	(void)words;
	env_vars_print();
	return TOOL_EXIT_OK;
}

static const struct option_row options[] = { { 0 } };

const struct command command_env_vars = {
	"env-vars", options, "", "list the environment variables", "xrc-compat env-vars",
	run_env_vars,
};
