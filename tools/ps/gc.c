/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat gc`: removes the registration tables that no process has open any more. */
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/program/paths.h"

#include <compat/regtab/regtab.h>

#include <stdio.h>
#include <string.h>

struct tally {
	bool dry_run;
	int left_alone;
};

static void report(void *context, const char *path, enum regtab_verdict verdict, const char *reason)
{
	struct tally *tally = context;

	switch (verdict) {
	case REGTAB_REMOVED:
		printf("%s %s: %s\n", tally->dry_run ? "would remove" : "removed", path, reason);
		break;
	case REGTAB_KEPT:
		printf("kept %s: %s\n", path, reason);
		break;
	case REGTAB_LEFT_ALONE:
		fflush(stdout);
		refuse(0, "left alone %s: %s", path, reason);
		tally->left_alone++;
		break;
	}
}

int command_gc(const struct command *self, int argc, char **argv)
{
	struct tally tally = { false, 0 };
	int removed;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--dry-run"))
			return refuse_word(self, argv[i]);
		tally.dry_run = true;
	}
	removed = regtab_gc(paths_table_directory(), tally.dry_run, report, &tally);
	if (removed < 0)
		return refuse(TOOL_EXIT_REFUSED, "the table directory %s: %s", paths_table_directory(), strerror(-removed));
	return tally.left_alone ? 1 : TOOL_EXIT_OK;
}
