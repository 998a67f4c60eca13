/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The legacy contract, row by row: an old binary that calls the old verbs and looks at what they
 * do.
 *
 *	contract [--mode=contexts|processes] [--only=TEXT] [--without-opened-events] GROUP...
 *
 * Prints one line per row that starts with "ok" or "FAIL". Exits 1 when a row failed.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "row.h"

static const char *const mode_names[MODES] = { "contexts", "processes" };

static char directory[64];

const char *row_file(int n)
{
	static char paths[4][128];

	snprintf(paths[n & 3], sizeof(paths[0]), "%s/domain%d", directory, n);
	return paths[n & 3];
}

const char *error_name(int err)
{
	static char names[4][32];
	static unsigned next;
	const char *known = err == ERRNO_MARK ? "untouched" : strerrorname_np(err);
	char *name = names[next++ & 3];

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
	if (!(result.facts & REST_INTACT))
		row_fail(file, line, "%s: wrote where it must not", call);
}

/* Runs a row, and prints its line. */
static bool row_fails(const struct row *row, enum mode mode)
{
	char name[256];
	bool fails;

	snprintf(name, sizeof(name), "%s %s [%s]", row->section, row->name, mode_names[mode]);
	snprintf(directory, sizeof(directory), "/tmp/contract.XXXXXX");
	if (!mkdtemp(directory)) {
		printf("FAIL %s: no directory in /tmp\n", name);
		return true;
	}
	actor_mode = mode;
	fails = !row_run(row, name);
	for (int n = 0; n < 4; n++)
		unlink(row_file(n));
	rmdir(directory);
	return fails;
}

struct selection {
	char **groups;
	bool modes[MODES];
	const char *only;
	bool without_opened_events;
};

static bool wanted(const struct selection *selection, const struct row *row, const char *group,
		   enum mode mode)
{
	if (!selection->modes[mode] || strcmp(row->group, group) != 0)
		return false;
	if (selection->without_opened_events && row->needs == NEEDS_OPENED_EVENTS)
		return false;
	if (mode == CONTEXTS && row->needs == NEEDS_PROCESSES)
		return false;
	return !selection->only || strstr(row->name, selection->only) ||
	       !strcmp(row->section, selection->only);
}

static unsigned failed_rows(const struct selection *selection)
{
	unsigned count = 0;

	for (char **group = selection->groups; *group; group++)
		for (const struct row *row = row_first(); row; row = row->next)
			for (enum mode mode = 0; mode < MODES; mode++)
				if (wanted(selection, row, *group, mode))
					count += row_fails(row, mode);
	return count;
}

static void expect_group(const char *name)
{
	for (const struct row *row = row_first(); row; row = row->next)
		if (!strcmp(row->group, name))
			return;
	fprintf(stderr, "contract: no group %s\n", name);
	exit(2);
}

static void parse(const char *argument, struct selection *selection)
{
	if (!strncmp(argument, "--only=", 7)) {
		selection->only = argument + 7;
		return;
	}
	if (!strcmp(argument, "--without-opened-events")) {
		selection->without_opened_events = true;
		return;
	}
	for (enum mode mode = 0; mode < MODES; mode++)
		if (!strncmp(argument, "--mode=", 7) && !strcmp(argument + 7, mode_names[mode])) {
			selection->modes[!mode] = false;
			return;
		}
	fprintf(stderr, "contract: %s is no option\n", argument);
	exit(2);
}

int main(int argc, char **argv)
{
	struct selection selection = { .modes = { true, true } };

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (argv++; *argv && !strncmp(*argv, "--", 2); argv++)
		parse(*argv, &selection);
	for (selection.groups = argv; *argv; argv++)
		expect_group(*argv);
	return failed_rows(&selection) ? 1 : 0;
}
