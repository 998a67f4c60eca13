/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat doctor`: examines this machine in the order in which a program needs its parts. */
#include "doctor.h"

#include <tools/common/command.h>
#include <tools/common/json.h>
#include <tools/common/message.h>
#include <tools/common/text.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#define TEXT_COLUMN 26

static bool as_json;
static struct json json;	/* writes nothing if the rows are text */
static int problems, notes;

static const char *const verdicts[] = { "ok", "note", "problem" };

static void print_text(const char *text)
{
	print_wrapped(text, TEXT_COLUMN, TEXT_COLUMN, terminal_width());
	putchar('\n');
}

static void print_row(const char *what, enum finding finding, const char *advice, const char *text)
{
	if (finding == FINDING_PROBLEM)
		print_styled(STYLE_PROBLEM, "PROBLEM");
	else
		printf("%-7s", verdicts[finding]);
	printf("  %-16s ", what);
	print_text(text);
	if (!advice)
		return;
	printf("%*s", TEXT_COLUMN, "");
	print_text(advice);
}

void found(const char *what, enum finding finding, const char *advice, const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_clean(text);
	if (!as_json)
		print_row(what, finding, advice, text);
	json_open(&json, NULL, '{');
	json_string(&json, "what", what);
	json_string(&json, "verdict", verdicts[finding]);
	json_string(&json, "text", text);
	json_string(&json, "advice", advice);
	json_close(&json, '}');
	problems += finding == FINDING_PROBLEM;
	notes += finding == FINDING_NOTE;
}

static const char *last_line(void)
{
	if (problems)
		return "Take the problems from the top: the later ones may follow from the first.";
	return notes ? "Nothing is wrong, but old programs may fail here: see each note."
		     : "Nothing is wrong.";
}

static int run_doctor(char **words)
{
	struct device_list list;

	(void)words;
	json.out = as_json ? stdout : NULL;
	json_open(&json, NULL, '{');
	json_open(&json, "rows", '[');
	examine_libraries();
	examine_devices(&list);
	examine_environment();
	json_close(&json, ']');
	devices_print_json(&json, &list);
	json_number(&json, "problems", problems);
	json_close(&json, '}');
	if (!as_json)
		printf("\n%s\n", last_line());
	return problems ? 1 : 0;
}

static const struct option_row options[] = {
	{ "--json", NULL, "print JSON", .flag = &as_json },
	{ 0 },
};

const struct command command_doctor = {
	"doctor", options, "", "say what is wrong on this machine, and how to fix it",
	"xrc-compat doctor --json", run_doctor,
};
