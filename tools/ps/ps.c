/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat ps`: the processes that are registered with each receive QP, or their stacks. */
#include "ps.h"

#include <tools/text/command.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>

#include <limits.h>
#include <string.h>

static struct listing listing;
static const char *names, *core; /* the values of -o and --core */
static bool stacks;

/* Takes the columns of -o. */
static int choose(char *rest)
{
	const char *name;

	while ((name = strsep(&rest, ","))) {
		const struct column *column = column_named(name);

		if (!column) {
			say("ps: there is no column '%s'", name);
			advise("xrc-compat ps --help lists them");
			return TOOL_EXIT_REFUSED;
		}
		APPEND(listing.columns, listing.column_count) = column;
	}
	return 0;
}

static int run_list(void)
{
	int status = choose(copy_string(names));

	for (const struct column *column = columns; !names && column->name; column++) {
		if (column->usual || listing.is_json)
			APPEND(listing.columns, listing.column_count) = column;
	}
	return status ? status : print_registrations(&listing);
}

static int run_ps(char **pids)
{
	bool lists = names || listing.is_json || listing.without_headings;
	const char *alone = core ? "--core" : stacks ? "--stacks" : NULL;

	if (alone && (lists || (core && stacks)))
		return refuse(TOOL_EXIT_REFUSED, "ps: %s goes with no other option", alone);
	if (pids[0] && !stacks)
		return refuse(TOOL_EXIT_REFUSED, "ps: %s: unexpected argument without --stacks",
			      pids[0]);
	if (core)
		return print_core(core);
	return stacks ? print_stacks(pids) : run_list();
}

static const struct option_row options[] = {
	{ "-o", "COLUMN[,COLUMN...]", "print these columns", .text = &names },
	{ "--json", NULL, "print JSON, with all columns if -o names none", .flag = &listing.is_json },
	{ "--noheadings", NULL, "leave out the line of headings",
	  .flag = &listing.without_headings },
	{ "--stacks", NULL,
	  "instead, print the stacks of the processes PID, or of all that have a domain open",
	  .flag = &stacks },
	{ "--core", "FILE", "instead, print the stacks in this core file", .text = &core },
	{ 0 },
};

const struct command command_ps = {
	"ps", options, "[PID...]", "list the registrations with receive QPs",
	"xrc-compat ps -o QP,PID,COMMAND,CREATOR", run_ps, .most_operands = INT_MAX,
	.more_help = explain_columns,
};
