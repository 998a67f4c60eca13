/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads a command line by the command's table of options, and explains them. */
#include "command.h"
#include "memory.h"
#include "message.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define OPTIONS_MAX 16
#define HELP_INDENT 8
#define HELP_WIDTH 80

/* The results of getopt_long_only() besides '?' and ':'. */
enum { END = -1, HELP = 'h', FIRST_OPTION = 256 };

/* ---- explaining ---- */

/* "[=N]" may follow the option, "FILE" must. */
static int argument_of(const struct option_row *row)
{
	if (!row->value)
		return no_argument;
	return row->value[0] == '[' ? optional_argument : required_argument;
}

static const char *usage_of(const struct command *command)
{
	return format_string("usage: xrc-compat %s [OPTION...]%s%s", command->name,
			     command->operands[0] ? " " : "", command->operands);
}

void print_entry(const char *label, unsigned int column, const char *text)
{
	printf("%-*s", (int)column, label);
	print_wrapped(text, column, column, HELP_WIDTH);
	putchar('\n');
}

static int print_help(const struct command *command)
{
	printf("%s\n\n%s\n%s", usage_of(command), command->summary,
	       command->options[0].name ? "\nOptions:\n" : "");
	for (const struct option_row *row = command->options; row->name; row++) {
		/* As "--output FILE", or "--watch[=SECONDS]". */
		printf("  %s%s%s\n", row->name, argument_of(row) == required_argument ? " " : "",
		       row->value ? row->value : "");
		print_entry("", HELP_INDENT, row->help);
	}
	if (command->more_help)
		command->more_help();
	printf("\nExample:\n  %s\n", command->example);
	return TOOL_EXIT_OK;
}

/* ---- reading ---- */

/* Refuses the command line for @word, which may be "". Returns TOOL_EXIT_REFUSED. */
static int refuse_word(const struct command *command, const char *word, const char *why)
{
	say("%s: %s%s%s", command->name, word, word[0] ? ": " : "", why);
	advise("%s", usage_of(command));
	advise("try: xrc-compat %s --help", command->name);
	return TOOL_EXIT_REFUSED;
}

static int take_option(const struct command *command, const struct option_row *row, char **argv)
{
	const char *next = argv[optind];

	/* The number may also follow as a word of its own: no program is called so. */
	if (argument_of(row) == optional_argument && !optarg && next && next[0] &&
	    !next[strspn(next, "0123456789")])
		optarg = argv[optind++];
	if (optarg && !optarg[0])
		return refuse_word(command, row->name, "its value is missing");
	if (row->flag)
		*row->flag = true;
	if (row->text)
		*row->text = optarg ? optarg : "";
	if (row->list)
		string_list_add(row->list, optarg);
	return 0;
}

int command_execute(const struct command *command, int argc, char **argv)
{
	struct option known[OPTIONS_MAX + 2] = { { "help", no_argument, NULL, HELP } };
	const char *letters = command->launches ? "+:h" : ":h";
	int status = 0, kind;

	for (int i = 0; command->options[i].name; i++) {
		const struct option_row *row = &command->options[i];

		assert(i < OPTIONS_MAX);
		known[i + 1] = (struct option){ row->name + strspn(row->name, "-"),
						argument_of(row), NULL, FIRST_OPTION + i };
	}
	while (!status && (kind = getopt_long_only(argc, argv, letters, known, NULL)) != END) {
		if (kind == HELP)
			return print_help(command);
		if (kind == ':')
			status = refuse_word(command, argv[optind - 1], "its value is missing");
		else if (kind == '?')
			status = refuse_word(command, argv[optind - 1], optopt ?
					     "it takes no value" : "unknown or ambiguous option");
		else
			status = take_option(command, &command->options[kind - FIRST_OPTION], argv);
	}
	if (!status && !command->launches && argc - optind > command->most_operands)
		status = refuse_word(command, argv[optind + command->most_operands],
				     "unexpected argument");
	if (!status && command->needs_program && !argv[optind])
		status = refuse_word(command, "", "no program given");
	return status ? status : command->run(argv + optind);
}
