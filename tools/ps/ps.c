/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat ps`: the processes that are registered with each receive QP, from the tables in
 * shared memory.
 */
#include "domain_path.h"
#include "ps_columns.h"
#include "terminal/screen.h"
#include "terminal/style.h"
#include "tools/common/command.h"
#include "tools/common/json.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/program/paths.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_COLUMNS 32
#define MAX_SECONDS 86400
/* Stale registrations listed per table. A damaged table may claim millions. */
#define STALE_MAX 10000

struct ps {
	const struct ps_column *columns[MAX_COLUMNS];
	size_t column_count;
	FILE *lines; /* where rows of text go */
	bool json, headings, watch;
	unsigned int seconds;
	/* While printing: */
	struct json out;
	bool refused;
	time_t now;
};

/* ---- printing ---- */

static void cell_text(const struct ps_column *column, const struct ps_row *row, char *text)
{
	long number;

	text[0] = '\0';
	if (column->text)
		column->text(row, text);
	else if (column->number(row, &number))
		snprintf(text, PS_TEXT_SIZE, "%ld", number);
}

static void print_cell(const struct ps *ps, size_t i, const char *text)
{
	bool last = i + 1 == ps->column_count;

	fprintf(ps->lines, "%-*s%s", last ? 0 : ps->columns[i]->width, text[0] ? text : "-",
		last ? "\n" : " ");
}

static void print_row(struct ps *ps, const struct ps_row *row)
{
	char text[PS_TEXT_SIZE];

	for (size_t i = 0; i < ps->column_count; i++) {
		cell_text(ps->columns[i], row, text);
		print_cell(ps, i, text);
	}
}

/* Keys are the names of the columns in lower case, as in lsipc(1). */
static void json_key(const struct ps_column *column, char *key)
{
	size_t i;

	for (i = 0; column->name[i]; i++)
		key[i] = (char)(column->name[i] | 0x20);
	key[i] = '\0';
}

static void print_json_row(struct ps *ps, const struct ps_row *row)
{
	char text[PS_TEXT_SIZE];
	char key[32];
	long number;

	json_open(&ps->out, NULL, '{');
	for (size_t i = 0; i < ps->column_count; i++) {
		const struct ps_column *column = ps->columns[i];

		json_key(column, key);
		if (column->number && column->number(row, &number)) {
			json_number(&ps->out, key, number);
			continue;
		}
		cell_text(column, row, text);
		json_string(&ps->out, key, text[0] ? text : NULL);
	}
	json_close(&ps->out, '}');
}

static void show(struct ps *ps, struct ps_row *row, const struct regtab_view_qp *qp,
		 const struct regtab_view_member *member)
{
	row->qp = qp;
	row->member = member;
	if (ps->json)
		print_json_row(ps, row);
	else
		print_row(ps, row);
}

/* ---- walking ---- */

/* Facts about one table that its view does not have. */
struct findings {
	bool *registered;	/* for each member: with any QP */
	unsigned long stale;	/* registrations of dead members met */
};

static void show_qp(struct ps *ps, struct ps_row *row, unsigned qp, struct findings *findings)
{
	const struct regtab_view *view = row->view;
	bool nobody = true;

	for (unsigned i = 0; i < view->member_count; i++) {
		if (!regtab_view_registered(view, qp, i))
			continue;
		if (view->members[i].live || findings->stale++ < STALE_MAX)
			show(ps, row, &view->qps[qp], &view->members[i]);
		findings->registered[i] = true;
		nobody = false;
	}
	if (nobody)
		show(ps, row, &view->qps[qp], NULL);
}

static void show_rows(struct ps *ps, const struct regtab_view *view, struct findings *findings)
{
	struct ps_row row = { .view = view, .now = ps->now };
	char path[PATH_MAX];

	if (domain_path_find(view, path))
		row.domain_path = path;
	for (unsigned i = 0; i < view->qp_count; i++)
		show_qp(ps, &row, i, findings);
	for (unsigned i = 0; i < view->member_count; i++) {
		if (!findings->registered[i])
			show(ps, &row, NULL, &view->members[i]);
	}
	if (!view->qp_count && !view->member_count)
		show(ps, &row, NULL, NULL);
	if (findings->stale > STALE_MAX)
		refuse(0, "%s: %lu more registrations of dead processes are not listed", view->path,
		       findings->stale - STALE_MAX);
}

static int show_table(struct ps *ps, const struct regtab_view *view)
{
	struct findings findings = {
		.registered = calloc(view->member_count + 1, sizeof(*findings.registered)),
	};

	if (!findings.registered)
		return -ENOMEM;
	show_rows(ps, view, &findings);
	free(findings.registered);
	return 0;
}

static void begin_refused(struct ps *ps)
{
	json_close(&ps->out, ']');
	json_open(&ps->out, "refused", '[');
}

/*
 * Refused tables come last. In JSON they have an array of their own, so that scripts tell them from
 * registrations.
 */
static void show_refused(struct ps *ps, const struct regtab_view *view)
{
	if (!ps->json) {
		fflush(ps->lines);
		refuse(0, "%s", view->reason);
	} else {
		if (!ps->refused)
			begin_refused(ps);
		json_open(&ps->out, NULL, '{');
		json_string(&ps->out, "table", view->path);
		json_string(&ps->out, "reason", view->reason);
		json_close(&ps->out, '}');
	}
	ps->refused = true;
}

static int visit(void *context, const struct regtab_view *view)
{
	if (view->condition != REGTAB_REFUSED)
		return show_table(context, view);
	show_refused(context, view);
	return 0;
}

static int print_json(struct ps *ps, const char *directory)
{
	int err;

	ps->out = (struct json){ .out = stdout };
	json_open(&ps->out, NULL, '{');
	json_string(&ps->out, "directory", directory);
	json_open(&ps->out, "registrations", '[');
	err = regtab_list(directory, visit, ps);
	if (!ps->refused)
		begin_refused(ps);
	json_close(&ps->out, ']');
	json_close(&ps->out, '}');
	return err;
}

static int print_table(struct ps *ps, const char *directory)
{
	for (size_t i = 0; i < ps->column_count && ps->headings; i++)
		print_cell(ps, i, ps->columns[i]->name);
	return regtab_list(directory, visit, ps);
}

/* 0, or -errno. Whether something can be executed access() says of files, too. */
static int try_directory(const char *path)
{
	DIR *directory = opendir(path);

	if (!directory)
		return -errno;
	closedir(directory);
	return access(path, X_OK) ? -errno : 0;
}

static int print_once(struct ps *ps)
{
	const char *directory = paths_table_directory();
	int err;

	ps->refused = false;
	ps->now = time(NULL);
	/* Read everything before the first line: a failure must not leave half a document. */
	err = try_directory(directory);
	if (!err)
		err = ps->json ? print_json(ps, directory) : print_table(ps, directory);
	if (err)
		return refuse(TOOL_EXIT_REFUSED, "the table directory %s: %s", directory,
			      strerror(-err));
	return ps->refused ? 1 : TOOL_EXIT_OK;
}

/* Lines are cut to the terminal's size. */
static int print_on_terminal(struct ps *ps, void (*show_text)(const char *text))
{
	size_t size;
	char *text = NULL;
	int status;

	ps->lines = open_memstream(&text, &size);
	if (!ps->lines)
		return refuse(TOOL_EXIT_REFUSED, "out of memory");
	status = print_once(ps);
	fclose(ps->lines);
	if (status != TOOL_EXIT_REFUSED)
		show_text(text);
	free(text);
	return status;
}

static int watch(struct ps *ps)
{
	bool terminal = isatty(STDOUT_FILENO);
	int status;

	screen_begin();
	for (;;) {
		status = terminal && !ps->json ? print_on_terminal(ps, screen_show)
					       : print_once(ps);
		if (status == TOOL_EXIT_REFUSED || fflush(stdout) || ferror(stdout))
			return status;
		screen_wait(ps->seconds);
		if (!terminal && !ps->json)
			putchar('\n');
	}
}

/* ---- the command line ---- */

void ps_columns_print(void)
{
	puts("\nColumns:");
	for (size_t i = 0; i < ps_column_count; i++) {
		printf("  %-8s ", ps_columns[i].name);
		style_wrap(stdout, ps_columns[i].help, 11, 11, style_help_width());
		putchar('\n');
	}
}

static int choose_columns(struct ps *ps, const char *list)
{
	ps->column_count = 0;
	for (;;) {
		size_t length = strcspn(list, ",");
		const struct ps_column *column = ps_column_find(list, length);

		if (!column || ps->column_count == MAX_COLUMNS) {
			refuse(0, column ? "ps: too many columns" : "ps: there is no column '%.*s'",
			       (int)length, list);
			advise("xrc-compat ps --help lists them");
			return TOOL_EXIT_REFUSED;
		}
		ps->columns[ps->column_count++] = column;
		if (!list[length])
			return 0;
		list += length + 1;
	}
}

/* A terminal gets the columns that fit on a line, JSON gets all. */
static void default_columns(struct ps *ps)
{
	for (size_t i = 0; i < ps_column_count; i++) {
		if (ps->json || ps_columns[i].by_default)
			ps->columns[ps->column_count++] = &ps_columns[i];
	}
}

static int choose_seconds(struct ps *ps, const char *text)
{
	char *end;
	long value;

	ps->watch = true;
	ps->seconds = 2;
	if (!text)
		return 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || value < 1 || value > MAX_SECONDS)
		return refuse(TOOL_EXIT_REFUSED, "ps: --watch takes 1 to %d seconds", MAX_SECONDS);
	ps->seconds = (unsigned int)value;
	return 0;
}

static int set_option(const struct command *self, struct ps *ps, int option, const char *value)
{
	switch (option) {
	case 'o':
		return choose_columns(ps, value);
	case 'w':
		return choose_seconds(ps, value);
	case 'j':
		ps->json = true;
		return 0;
	case 'n':
		ps->headings = false;
		return 0;
	default:
		return option == OPTION_OPERAND ? refuse_word(self, value) : TOOL_EXIT_REFUSED;
	}
}

int command_ps(const struct command *self, int argc, char **argv)
{
	struct option_words words = { self, argv + 1, NULL };
	struct ps ps = { .lines = stdout, .headings = true };
	int option, status;

	(void)argc;
	while ((option = options_next(&words)) != OPTIONS_END) {
		status = set_option(self, &ps, option, words.value);
		if (status)
			return status;
	}
	if (!ps.column_count)
		default_columns(&ps);
	if (ps.watch)
		return watch(&ps);
	return ps.json || !isatty(STDOUT_FILENO) ? print_once(&ps)
						 : print_on_terminal(&ps, screen_lines);
}
