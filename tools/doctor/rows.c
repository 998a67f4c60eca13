/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Prints a row for each finding, as text or as JSON. */
#include "doctor.h"

#include <tools/text/message.h>

#include <stdio.h>

#define TEXT_COLUMN 26

struct rows rows;

static const char *const verdicts[] = { "ok", "note", "problem" };

static void print_column(const char *text)
{
	print_wrapped(text, TEXT_COLUMN, TEXT_COLUMN, terminal_width());
	putchar('\n');
}

static void print_row(const char *what, enum finding finding, const char *advice, const char *text)
{
	if (finding == FINDING_PROBLEM)
		print_styled(STYLE_PROBLEM, "PROBLEM");
	else
		print_text(stdout, "%-7s", verdicts[finding]);
	print_text(stdout, "  %-16s ", what);
	print_column(text);
	if (!advice)
		return;
	print_text(stdout, "%*s", TEXT_COLUMN, "");
	print_column(advice);
}

void add_row(const char *what, enum finding finding, const char *advice, const char *text)
{
	if (finding == FINDING_OK)
		advice = NULL;
	if (!rows.json.out)
		print_row(what, finding, advice, text);
	json_open(&rows.json, NULL, '{');
	json_string(&rows.json, "what", what);
	json_string(&rows.json, "verdict", verdicts[finding]);
	json_string(&rows.json, "text", text);
	json_string(&rows.json, "advice", advice);
	json_close(&rows.json, '}');
	rows.count[finding]++;
}
