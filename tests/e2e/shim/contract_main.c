/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The legacy contract, row by row: an old binary that calls the old verbs and looks at what they
 * do.
 *
 *	contract --mode=contexts|processes [--only=PART_OF_NAME] GROUP
 *
 * Prints one line per row that starts with "ok" or "FAIL". Exits 1 when a row failed, 2 when there
 * is none.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

static const char *const mode_names[MODES] = { "contexts", "processes" };

static char directory[64];
enum end row_end;

const char *row_file(enum file file)
{
	static char paths[FILES][128];

	snprintf(paths[file], sizeof(paths[0]), "%s/domain%d", directory, (int)file);
	return paths[file];
}

/* "EINVAL" for 22. The text is overwritten by the second call after this. */
static const char *error_name(int err)
{
	static char names[2][32];
	static unsigned next;
	const char *known = err == ERRNO_MARK ? "untouched" : strerrorname_np(err);
	char *name = names[next++ & 1];

	if (known)
		snprintf(name, sizeof(names[0]), "%s", err ? known : "0");
	else
		snprintf(name, sizeof(names[0]), "%d", err);
	return name;
}

void row_expect(const char *file, int line, const char *call, struct result result, int want,
		bool errno_too)
{
	int want_errno = want ? want : ERRNO_MARK;

	if (result.ret != want)
		row_fail(file, line, "%s: got %s, want %s", call, error_name(result.ret),
			 error_name(want));
	if (errno_too && result.err != want_errno)
		row_fail(file, line, "%s: errno is %s, want %s", call, error_name(result.err),
			 error_name(want_errno));
	if (!result.intact)
		row_fail(file, line, "%s: wrote where it must not", call);
}

/* Runs a row, and prints its line. */
static bool row_fails(const struct row *row)
{
	static const char *const ends[ENDS] = { "", " exits", " killed" };
	char name[256];
	bool fails;

	snprintf(name, sizeof(name), "%s %s [%s%s]", row->section, row->name,
		 mode_names[actor_mode], ends[row_end]);
	snprintf(directory, sizeof(directory), "/tmp/contract.XXXXXX");
	must(mkdtemp(directory));
	fails = !row_run(row, name);
	for (enum file file = 0; file < FILES; file++)
		unlink(row_file(file));
	rmdir(directory);
	return fails;
}

static int usage(void)
{
	fprintf(stderr, "usage: contract --mode=contexts|processes [--only=PART] GROUP\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *mode = argc >= 3 && !strncmp(argv[1], "--mode=", 7) ? argv[1] + 7 : "";
	const char *only = argc == 4 && !strncmp(argv[2], "--only=", 7) ? argv[2] + 7 : "";
	unsigned rows = 0, failed = 0;
	enum end ends;

	if (strcmp(mode, mode_names[CONTEXTS]) && strcmp(mode, mode_names[PROCESSES]))
		return usage();
	actor_mode = strcmp(mode, mode_names[PROCESSES]) ? CONTEXTS : PROCESSES;
	for (const struct row *row = row_first(); row; row = row->next) {
		if (strcmp(row->group, argv[argc - 1]) != 0 || !strstr(row->name, only))
			continue;
		rows++;
		ends = row->needs == ALL_ENDS && actor_mode == PROCESSES
			       ? ENDS
			       : BY_CLOSE_DEVICE + 1;
		for (row_end = BY_CLOSE_DEVICE; row_end < ends; row_end++)
			failed += row_fails(row);
	}
	if (!rows)
		return usage();
	return failed ? 1 : 0;
}
