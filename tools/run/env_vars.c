/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat env-vars`: prints the table of tools/common/variables.h. */
#include "tools/common/variables.h"
#include "terminal/style.h"
#include "tools/common/common.h"

#include <stdio.h>
#include <string.h>

#define INDENT 8

struct env_var {
	const char *name;
	const char *value_if_unset;
	const char *read_when;
	const char *help;
};

#define ROW(NAME, DEFAULT, READ_WHEN, HELP) { #NAME, DEFAULT, READ_WHEN, HELP },
static const struct env_var table[] = { XRC_COMPAT_ENV_TABLE(ROW) };
#undef ROW

void env_vars_print(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct env_var *var = &table[i];

		printf("  %s\n%*s", var->name, INDENT, "");
		style_wrap(stdout, var->help, INDENT, INDENT, style_help_width());
		printf("\n%*sdefault: ", INDENT, "");
		style_wrap(stdout, var->value_if_unset, INDENT + 9, INDENT, style_help_width());
		printf("\n%*sread ", INDENT, "");
		style_wrap(stdout, var->read_when, INDENT + 5, INDENT, style_help_width());
		putchar('\n');
	}
}

static int run_env_vars(char **words)
{
	(void)words;
	env_vars_print();
	return TOOL_EXIT_OK;
}

const struct command command_env_vars = {
	"env-vars", NULL, NULL, "list the environment variables", "xrc-compat env-vars",
	run_env_vars,
};
