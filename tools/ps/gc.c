/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat gc`: removes the registration tables of processes that ended. */
#include <tools/common/command.h>
#include <tools/common/json.h>
#include <tools/common/message.h>
#include <tools/files/paths.h>
#include <tools/tables/view.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

static bool dry_run, as_json, left_alone;
static struct json json;	/* writes nothing if the report is text */

/* The document begins when the directory could be read. */
static void begin(void)
{
	if (json.depth)
		return;
	json_open(&json, NULL, '{');
	json_string(&json, "directory", paths_table_directory());
	json_open(&json, "tables", '[');
}

static int collect(void *context, struct regtab_found *found, int err)
{
	const char *action;

	(void)context;
	if (!err)
		err = regtab_remove_dead(found, dry_run);
	action = err == -EAGAIN ? "kept" : err ? "left alone" : dry_run ? "would remove" : "removed";
	begin();
	json_open(&json, NULL, '{');
	json_string(&json, "table", found->path);
	json_string(&json, "action", action);
	json_string(&json, "reason", found->reason);
	json_close(&json, '}');
	if (err && err != -EAGAIN) {
		fflush(stdout);
		say("%s %s: %s", action, found->path, found->reason);
		left_alone = true;
	} else if (!as_json) {
		print_line("%s %s: %s", action, found->path, found->reason);
	}
	return 0;
}

static int run_gc(char **words)
{
	int err;

	(void)words;
	json.out = as_json ? stdout : NULL;
	err = regtab_each(paths_table_directory(), O_RDWR, collect, NULL);
	if (err)
		return refuse_table_directory(err);
	begin();
	json_close(&json, ']');
	json_close(&json, '}');
	return left_alone ? 1 : TOOL_EXIT_OK;
}

static const struct option_row options[] = {
	{ "--dry-run", NULL, "only say what would be removed", .flag = &dry_run },
	{ "--json", NULL, "print JSON", .flag = &as_json },
	{ 0 },
};

const struct command command_gc = {
	"gc", options, "", "remove the registration tables that only dead processes used",
	"xrc-compat gc --dry-run", run_gc,
};
