/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat ps`: the processes that are registered with each receive QP, or their stacks. */
#include "ps.h"
#include "columns.h"

#include <tools/text/command.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>

#include <limits.h>
#include <string.h>

static struct {
	const char *columns;
	bool json, without_headings, stacks;
	const char *core;
} asked;

/* All that JSON has room for; in text those that fit on a line. */
static void choose_usual(struct listing *listing)
{
	for (size_t i = 0; i < (listing->is_json ? COLUMNS : CREATOR); i++)
		APPEND(listing->columns, listing->column_count) = &columns[i];
}

/* @names: as in -o. */
static int choose(struct listing *listing, char *names)
{
	const char *name;

	while ((name = strsep(&names, ","))) {
		const struct column *column = column_named(name);

		if (!column) {
			say("ps: there is no column '%s'", name);
			advise("xrc-compat ps --help lists them");
			return TOOL_EXIT_REFUSED;
		}
		APPEND(listing->columns, listing->column_count) = column;
	}
	return 0;
}

static int run_list(void)
{
	struct listing listing = { .is_json = asked.json, .has_headings = !asked.without_headings };
	int status = 0;

	if (asked.columns)
		status = choose(&listing, copy_string(asked.columns));
	else
		choose_usual(&listing);
	return status ? status : print_registrations(&listing);
}

static int refuse_other(const char *form)
{
	return refuse(TOOL_EXIT_REFUSED, "ps: %s goes with no other option", form);
}

static int run_ps(char **pids)
{
	bool lists = asked.columns || asked.json || asked.without_headings;

	if (asked.core && (asked.stacks || lists))
		return refuse_other("--core");
	if (asked.stacks && lists)
		return refuse_other("--stacks");
	if (pids[0] && !asked.stacks)
		return refuse(TOOL_EXIT_REFUSED, "ps: %s: unexpected argument without --stacks",
			      pids[0]);
	if (asked.core)
		return print_core(asked.core);
	return asked.stacks ? print_stacks(pids) : run_list();
}

static const struct option_row options[] = {
	{ "-o", "COLUMN[,COLUMN...]", "print these columns", .text = &asked.columns },
	{ "--json", NULL, "print JSON, with all columns if -o names none", .flag = &asked.json },
	{ "--noheadings", NULL, "leave out the line of headings",
	  .flag = &asked.without_headings },
	{ "--stacks", NULL,
	  "instead, print the stacks of the processes PID, or of all that have a domain open",
	  .flag = &asked.stacks },
	{ "--core", "FILE", "instead, print the stacks in this core file", .text = &asked.core },
	{ 0 },
};

const struct command command_ps = {
	"ps", options, "[PID...]", "list the registrations with receive QPs",
	"xrc-compat ps -o QP,PID,COMMAND,CREATOR", run_ps, .most_operands = INT_MAX,
	.more_help = explain_columns,
};
