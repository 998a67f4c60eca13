/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat ps`: the processes that are registered with each receive QP, from their tables. */
#include "ps.h"

#include <tools/text/command.h>
#include <tools/text/json.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sysmacros.h>
#include <time.h>

/* ---- columns ---- */

/* Without -o those before CREATOR are printed, which fit on a line. */
enum { DEVICE, QP, PID, COMMAND, AGE, DOMAIN, CREATOR, UID, RUN, KEPT, STATE, TABLE, COLUMNS };

static const struct column {
	const char *name;
	const char *help;
	int width;	/* characters of most values; 0: any number, so the column stands last */
} columns[COLUMNS] = {
	[DEVICE] = { "DEVICE", "device", 8 },
	[QP] = { "QP", "number of the receive QP", 8 },
	[PID] = { "PID", "process that is registered", 7 },
	[COMMAND] = { "COMMAND", "its command", 15 },
	[AGE] = { "AGE", "time since it opened the domain", 7 },
	[DOMAIN] = { "DOMAIN", "the domain: device and inode of its file, major:minor:inode", 14 },
	[CREATOR] = { "CREATOR", "process that created the QP, while it is there", 7 },
	[UID] = { "UID", "user of the process", 6 },
	[RUN] = { "RUN", "directory of the emulator's daemon, if the process has emulated adapters", 24 },
	[KEPT] = { "KEPT", "kernel; release 1.0 also listed QPs that had ended", 7 },
	[STATE] = { "STATE", "live; release 1.0 also listed dead processes", 7 },
	[TABLE] = { "TABLE", "table of the process", 0 },
};

struct cell {
	char text[576];		/* for people; "" if the column does not apply */
	bool is_number;		/* JSON has the number in place of the text */
	long long number;
};

__attribute__((format(printf, 2, 3))) static void put(struct cell *cell, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(cell->text, sizeof(cell->text), format, args);
	va_end(args);
}

static void put_number(struct cell *cell, long long number)
{
	cell->is_number = true;
	cell->number = number;
	put(cell, "%lld", number);
}

/* The clock may have been set back, and a table may be forged: an age is never negative. */
static void put_age(struct cell *cell, uint64_t since)
{
	uint64_t now = (uint64_t)time(NULL);
	long long seconds = since < now ? (long long)(now - since) : 0;

	put_number(cell, seconds);
	if (seconds < 60)
		put(cell, "%llds", seconds);
	else if (seconds < 3600)
		put(cell, "%lldm%02llds", seconds / 60, seconds % 60);
	else if (seconds < 86400)
		put(cell, "%lldh%02lldm", seconds / 3600, seconds % 3600 / 60);
	else
		put(cell, "%lldd%02lldh", seconds / 86400, seconds % 86400 / 3600);
}

/* Emulated adapters of two runs have the same names. */
static void put_run(struct cell *cell, const struct regtab_view_member *member)
{
	static const char name[] = "SOFTHCA_DIR=";
	char path[32], *variable = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)member->pid);
	file = fopen(path, "re");
	while (file && getdelim(&variable, &size, '\0', file) > 0) {
		if (!strncmp(variable, name, strlen(name)))
			put(cell, "%s", variable + strlen(name));
	}
	if (file)
		fclose(file);
	free(variable);
}

/* A process registered with a QP, or with none (NULL). */
static void fill(struct cell *cells, const struct regtab_view_member *member,
		 const struct regtab_view_qp *qp)
{
	const struct regtab_key *key = &member->key;

	put(&cells[DEVICE], "%s", key->device);
	if (qp) {
		put_number(&cells[QP], qp->qp_num);
		put(&cells[QP], "0x%06x", qp->qp_num);
		put(&cells[KEPT], "kernel");
		if (qp->creator)
			put_number(&cells[CREATOR], qp->creator->pid);
	}
	put_number(&cells[PID], member->pid);
	put(&cells[COMMAND], "%s", member->command);
	put_age(&cells[AGE], member->since);
	put(&cells[STATE], "live");
	put(&cells[DOMAIN], "%u:%u:%llu", major(key->st_dev), minor(key->st_dev),
	    (unsigned long long)key->st_ino);
	put_number(&cells[UID], member->uid);
	put(&cells[TABLE], "%s", member->path);
}

static void explain_columns(void)
{
	puts("\nColumns:");
	for (size_t i = 0; i < COLUMNS; i++)
		print_entry(format_string("  %s", columns[i].name), 11, columns[i].help);
}

/* ---- printing ---- */

struct ps {
	const struct column **columns;
	size_t column_count;
	bool is_json, no_headings;
	/* While printing: */
	struct json json;	/* writes nothing if the list is text */
	bool begun;
	unsigned arrays;	/* of JSON that were begun behind the registrations */
	bool refused;		/* a table */
};

static void print_cell(const struct ps *ps, size_t i, const char *text)
{
	text = text[0] ? text : "-";
	if (i + 1 == ps->column_count)
		print_text(stdout, "%s\n", text);
	else
		print_text(stdout, "%-*s ", ps->columns[i]->width, text);
}

/* Keys are the names of the columns in lower case, as in lsipc(1). */
static void print_member(struct ps *ps, size_t i, const struct cell *cell)
{
	char key[16] = "";

	for (size_t k = 0; ps->columns[i]->name[k]; k++)
		key[k] = (char)(ps->columns[i]->name[k] | 0x20);
	if (cell->is_number)
		json_number(&ps->json, key, cell->number);
	else
		json_string(&ps->json, key, cell->text);
}

static bool shows(const struct ps *ps, size_t column)
{
	for (size_t i = 0; i < ps->column_count; i++) {
		if (ps->columns[i] == &columns[column])
			return true;
	}
	return false;
}

static void print_row(struct ps *ps, const struct regtab_view_member *member,
		      const struct regtab_view_qp *qp)
{
	struct cell cells[COLUMNS] = { 0 };

	fill(cells, member, qp);
	if (shows(ps, RUN))
		put_run(&cells[RUN], member);
	json_open(&ps->json, NULL, '{');
	for (size_t i = 0; i < ps->column_count; i++) {
		const struct cell *cell = &cells[ps->columns[i] - columns];

		if (ps->is_json)
			print_member(ps, i, cell);
		else
			print_cell(ps, i, cell->text);
	}
	json_close(&ps->json, '}');
}

/* ---- tables ---- */

static void print_table(struct ps *ps, const struct regtab_view *view)
{
	struct regtab_view_qp qp;

	for (uint32_t from = 0; regtab_view_next(view, from, &qp); from = qp.qp_num + 1) {
		for (unsigned i = 0; i < view->member_count; i++) {
			if (regtab_view_registered(view, qp.qp_num, i))
				print_row(ps, &view->members[i], &qp);
		}
	}
	for (unsigned i = 0; i < view->member_count; i++) {
		if (!view->members[i].registration_count)
			print_row(ps, &view->members[i], NULL);
	}
}

/* Nothing is shown before all is read: a failure must not leave half a document. */
static void begin(struct ps *ps)
{
	if (ps->begun)
		return;
	ps->begun = true;
	json_open(&ps->json, NULL, '{');
	json_string(&ps->json, "directory", "/proc");
	json_open(&ps->json, "registrations", '[');
	for (size_t i = 0; i < ps->column_count && !ps->no_headings && !ps->is_json; i++)
		print_cell(ps, i, ps->columns[i]->name);
}

/* A table with more registrations than places says how many are missing. */
static void tell_missing(const struct regtab_view *view)
{
	for (unsigned i = 0; i < view->member_count; i++)
		if (view->members[i].missing)
			say("process %d: %u more registrations; its table has no place for them",
			    (int)view->members[i].pid, view->members[i].missing);
}

static void tell_reason(struct ps *ps, const struct regtab_view_member *member)
{
	if (!ps->is_json)
		say_reason(member);
	json_open(&ps->json, NULL, '{');
	json_number(&ps->json, "pid", member->pid);
	json_string(&ps->json, "table", member->path);
	json_string(&ps->json, "reason", member->reason);
	json_close(&ps->json, '}');
}

/* Refused tables and unread processes have an array each. Each is there, if only empty. */
static void begin_reasons(struct ps *ps, bool unread)
{
	static const char *const names[] = { "refused", "unread" };

	while (ps->arrays < 1u + unread) {
		json_close(&ps->json, ']');
		json_open(&ps->json, names[ps->arrays++], '[');
	}
}

/* The tables, then the refused ones, then the processes that cannot be read. */
static int visit(void *context, const struct regtab_view *view)
{
	const struct regtab_view_member *first = view->members;
	struct ps *ps = context;

	begin(ps);
	if (!first->reason) {
		print_table(ps, view);
		tell_missing(view);
		return 0;
	}
	begin_reasons(ps, first->unread);
	tell_reason(ps, first);
	ps->refused |= !first->unread;
	return 0;
}

static int print(struct ps *ps)
{
	int err;

	ps->json.out = ps->is_json ? stdout : NULL;
	err = regtab_list(visit, ps);
	if (err)
		return refuse_to_list(err);
	say_more_unread();
	begin(ps);
	begin_reasons(ps, true);
	json_close(&ps->json, ']');
	json_close(&ps->json, '}');
	return ps->refused;
}

/* ---- the command line ---- */

/* @list: as in -o; NULL: text has the columns before CREATOR, JSON has all. */
static int choose_columns(struct ps *ps, const char *list)
{
	char *names = copy_string(list), *name;

	for (size_t i = 0; !list && i < (ps->is_json ? COLUMNS : CREATOR); i++)
		APPEND(ps->columns, ps->column_count) = &columns[i];
	while ((name = strsep(&names, ","))) {
		size_t i = 0;

		while (i < COLUMNS && strcasecmp(columns[i].name, name) != 0)
			i++;
		if (i == COLUMNS) {
			say("ps: there is no column '%s'", name);
			advise("xrc-compat ps --help lists them");
			return TOOL_EXIT_REFUSED;
		}
		APPEND(ps->columns, ps->column_count) = &columns[i];
	}
	return 0;
}

static struct ps ps;
static bool with_stacks;
static const char *core_file;
static const char *chosen_columns;

static int run_ps(char **pids)
{
	int status;

	if (core_file)
		return print_core(core_file);
	if (with_stacks)
		return print_stacks(pids);
	if (pids[0])
		return refuse(TOOL_EXIT_REFUSED, "ps: %s: unexpected argument without --stacks",
			      pids[0]);
	status = choose_columns(&ps, chosen_columns);
	return status ? status : print(&ps);
}

static const struct option_row options[] = {
	{ "-o", "COLUMN[,COLUMN...]", "print these columns", .text = &chosen_columns },
	{ "--json", NULL, "print JSON, with all columns if -o names none", .flag = &ps.is_json },
	{ "--noheadings", NULL, "leave out the line of headings", .flag = &ps.no_headings },
	{ "--stacks", NULL,
	  "instead, print the stacks of the processes PID, or of all that have a domain open",
	  .flag = &with_stacks },
	{ "--core", "FILE", "print the stacks in this core file", .text = &core_file },
	{ 0 },
};

const struct command command_ps = {
	"ps", options, "[PID...]", "list the registrations with receive QPs",
	"xrc-compat ps -o QP,PID,COMMAND,CREATOR", run_ps, .most_operands = INT_MAX,
	.more_help = explain_columns,
};
