/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Prints the registrations of all processes, as text or as JSON, and says why some are missing. */
#include "ps.h"

#include <tools/text/command.h>
#include <tools/text/json.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>

#include <string.h>

/* ---- a row ---- */

static void print_text_cell(const struct listing *listing, size_t i, const char *text)
{
	text = text[0] ? text : "-";
	if (i + 1 == listing->column_count)
		print_text(stdout, "%s\n", text);
	else
		print_text(stdout, "%-*s ", listing->columns[i]->width, text);
}

/* Keys are the names of the columns in lower case, as in lsipc(1). */
static void print_json_cell(struct json *json, const char *name, const struct cell *cell)
{
	char key[16] = "";

	for (size_t i = 0; name[i]; i++)
		key[i] = (char)(name[i] | 0x20);
	if (cell->is_number)
		json_number(json, key, cell->number);
	else
		json_string(json, key, cell->text);
}

static void print_row(const struct listing *listing, struct json *json,
		      const struct regtab_view_member *member, const struct regtab_view_qp *qp)
{
	json_open(json, NULL, '{');
	for (size_t i = 0; i < listing->column_count; i++) {
		struct cell cell = column_cell(listing->columns[i], member, qp);

		if (listing->is_json)
			print_json_cell(json, listing->columns[i]->name, &cell);
		else
			print_text_cell(listing, i, cell.text);
	}
	json_close(json, '}');
}

/* ---- tables ---- */

/* The registrations by QP, then the processes that have none. */
static void print_table(const struct listing *listing, struct json *json,
			const struct regtab_view *table)
{
	struct regtab_view_qp qp;

	for (uint32_t from = 0; regtab_view_next_qp(table, from, &qp); from = qp.qp_num + 1) {
		for (unsigned i = 0; i < table->member_count; i++) {
			if (regtab_view_registered(table, qp.qp_num, i))
				print_row(listing, json, &table->members[i], &qp);
		}
	}
	EACH(member, table->members, table->member_count) {
		if (!member->registration_count)
			print_row(listing, json, member, NULL);
	}
}

/* @unread: of the processes that cannot be read, or of the tables that are refused. */
static void print_reasons(struct json *json, const char *key, const struct regtab_view *all,
			  bool unread)
{
	json_open(json, key, '[');
	EACH(member, all->members, all->member_count) {
		if (!member->reason || member->unread != unread)
			continue;
		json_open(json, NULL, '{');
		json_number(json, "pid", member->pid);
		json_string(json, "table", member->path);
		json_string(json, "reason", member->reason);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_all(const struct listing *listing, const struct regtab_view *all)
{
	struct json json = { .out = listing->is_json ? stdout : NULL };
	struct regtab_view table = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "directory", "/proc");
	json_open(&json, "registrations", '[');
	if (!listing->without_headings && !listing->is_json) {
		for (size_t i = 0; i < listing->column_count; i++)
			print_text_cell(listing, i, listing->columns[i]->name);
	}
	while (regtab_view_next_table(all, &table)) {
		if (!table.members->reason)
			print_table(listing, &json, &table);
	}
	json_close(&json, ']');
	print_reasons(&json, "refused", all, false);
	print_reasons(&json, "unread", all, true);
	json_close(&json, '}');
}

/* ---- processes that cannot be read ---- */

bool say_reasons(const struct regtab_view *all, pid_t pid)
{
	unsigned int unread = 0;
	bool any = false;

	EACH(member, all->members, all->member_count) {
		if (!member->reason || (pid && member->pid != pid))
			continue;
		any = true;
		unread += member->unread;
		if (!member->unread || unread == 1)
			say("process %d (%s): %s: %s", (int)member->pid, member->command,
			    member->path, member->reason);
	}
	if (unread > 1)
		say("in all %u processes of this user cannot be read; `xrc-compat ps --json` lists them",
		    unread);
	return any;
}

int refuse_to_list(int err)
{
	return refuse(TOOL_EXIT_REFUSED, "no registrations can be read: %s; try: xrc-compat doctor",
		      strerror(-err));
}

int print_registrations(const struct listing *listing)
{
	struct regtab_view all;
	bool refused = false;
	int err = regtab_read(&all);

	if (err)
		return refuse_to_list(err);
	print_all(listing, &all);
	EACH(member, all.members, all.member_count) {
		if (member->missing)
			say("process %d: %u more registrations; its table has no place for them",
			    (int)member->pid, member->missing);
		refused |= member->reason && !member->unread;
	}
	if (!listing->is_json)
		say_reasons(&all, 0);
	regtab_free(&all);
	return refused;
}
