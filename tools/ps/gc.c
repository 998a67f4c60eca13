/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat gc`: removed the tables of dead processes in release 1.0. Scripts may call it. */
#include <tools/text/command.h>
#include <tools/text/message.h>

static bool as_json;

static int run_gc(char **words)
{
	(void)words;
	print_line(as_json ? "{\"directory\": \"/proc\", \"tables\": []}"
			   : "nothing to collect: a registration table ends with its process");
	return TOOL_EXIT_OK;
}

static const struct option_row options[] = {
	{ "--dry-run", NULL, "the same", .flag = &(bool){ false } },
	{ "--json", NULL, "print JSON", .flag = &as_json },
	{ 0 },
};

const struct command command_gc = {
	"gc", options, "", "say that there is nothing to collect, for scripts of release 1.0",
	"xrc-compat gc", run_gc,
};
