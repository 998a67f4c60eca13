/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat gc`: removes the files of registration tables whose process ended. */
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/program/paths.h"
#include "tools/tables/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct tally {
	bool dry_run;
	bool left_alone;
};

static int collect(void *context, struct regtab_found *found, int err)
{
	struct tally *tally = context;

	if (!err)
		err = regtab_remove_dead(found, tally->dry_run);
	if (!err) {
		printf("%s %s: %s\n", tally->dry_run ? "would remove" : "removed", found->path,
		       found->reason);
	} else if (err == -EAGAIN) {
		printf("kept %s: %s\n", found->path, found->reason);
	} else {
		fflush(stdout);
		refuse(0, "left alone %s: %s", found->path, found->reason);
		tally->left_alone = true;
	}
	return 0;
}

int command_gc(const struct command *self, int argc, char **argv)
{
	struct option_words words = { self, argv + 1, NULL };
	struct tally tally = { false, false };
	int option, err;

	(void)argc;
	while ((option = options_next(&words)) > 0) {
		if (option == OPTION_OPERAND)
			return refuse_word(self, words.value);
		tally.dry_run = true;
	}
	if (option)
		return TOOL_EXIT_REFUSED;
	err = regtab_each(paths_table_directory(), O_RDWR, collect, &tally);
	if (err)
		return refuse(TOOL_EXIT_REFUSED, "the table directory %s: %s",
			      paths_table_directory(), strerror(-err));
	return tally.left_alone ? 1 : TOOL_EXIT_OK;
}
