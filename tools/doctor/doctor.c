/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat doctor`: examines this machine in the order in which a program needs its parts. */
#include "doctor.h"

#include <tools/text/command.h>
#include <tools/text/message.h>

#include <stdio.h>

static bool as_json;

static const char *last_line(void)
{
	if (rows.count[FINDING_PROBLEM])
		return "Take the problems from the top: the later ones may follow from the first.";
	if (rows.count[FINDING_NOTE])
		return "Nothing is wrong, but old programs may fail here: see each note.";
	return "Nothing is wrong.";
}

static int run_doctor(char **words)
{
	struct device_list list;

	(void)words;
	rows.json.out = as_json ? stdout : NULL;
	json_open(&rows.json, NULL, '{');
	json_open(&rows.json, "rows", '[');
	examine_libraries();
	examine_devices(&list);
	examine_environment();
	json_close(&rows.json, ']');
	devices_print_json(&rows.json, &list);
	json_number(&rows.json, "problems", rows.count[FINDING_PROBLEM]);
	json_close(&rows.json, '}');
	if (!as_json)
		print_text(stdout, "\n%s\n", last_line());
	return rows.count[FINDING_PROBLEM] ? 1 : 0;
}

static const struct option_row options[] = {
	{ "--json", NULL, "print JSON", .flag = &as_json },
	{ 0 },
};

const struct command command_doctor = {
	"doctor", options, "", "say what is wrong on this machine, and how to fix it",
	"xrc-compat doctor --json", run_doctor,
};
