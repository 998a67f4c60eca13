/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat gc`: removes the registration tables of processes that ended. */
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/files/paths.h"
#include "tools/tables/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static bool dry_run, left_alone;

static int collect(void *context, struct regtab_found *found, int err)
{
	(void)context;
	if (!err)
		err = regtab_remove_dead(found, dry_run);
	if (!err) {
		print_line("%s %s: %s", dry_run ? "would remove" : "removed", found->path,
			   found->reason);
	} else if (err == -EAGAIN) {
		print_line("kept %s: %s", found->path, found->reason);
	} else {
		fflush(stdout);
		say("left alone %s: %s", found->path, found->reason);
		left_alone = true;
	}
	return 0;
}

static int run_gc(char **words)
{
	const char *directory = paths_table_directory();
	int err = regtab_each(directory, O_RDWR, collect, NULL);

	(void)words;
	if (err)
		return refuse(TOOL_EXIT_REFUSED, "the table directory %s: %s", directory,
			      strerror(-err));
	return left_alone ? 1 : TOOL_EXIT_OK;
}

static const struct option_row options[] = {
	{ "--dry-run", NULL, "only say what would be removed", .flag = &dry_run },
	{ 0 },
};

const struct command command_gc = {
	"gc", options, "", "remove the registration tables that only dead processes used",
	"xrc-compat gc --dry-run", run_gc,
};
