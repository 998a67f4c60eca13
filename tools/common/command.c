/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads a command line by the command's table of options, and explains them. */
#include "command.h"
#include "memory.h"
#include "message.h"
#include "terminal/style.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define OPTIONS_MAX 16
#define HELP_INDENT 8

/* What getopt_long_only() returns, besides '?' and ':'. */
enum { END = -1, OPERAND = 1, HELP, FIRST_OPTION = 256 };

/* ---- did you mean ---- */

/* Whether @a becomes @b if at most so many letters are changed, added or removed. */
static bool is_near(const char *a, const char *b, unsigned int changes)
{
	while (*a && *a == *b)
		a++, b++;
	if (!*a || !*b)
		return strlen(a) + strlen(b) <= changes;
	return changes && (is_near(a + 1, b + 1, changes - 1) || is_near(a + 1, b, changes - 1) ||
			   is_near(a, b + 1, changes - 1));
}

const char *nearest_name(const char *word, const char *const *names)
{
	unsigned int most = strlen(word) < 5 ? 1 : 2;	/* with more changes it is another word */

	for (unsigned int changes = 0; changes <= most; changes++) {
		for (size_t i = 0; names[i]; i++) {
			if (is_near(word, names[i], changes))
				return names[i];
		}
	}
	return NULL;
}

/* ---- explaining ---- */

/* "[=N]" may follow the option, "FILE" must. */
static int argument_of(const struct option_row *row)
{
	if (!row->value)
		return no_argument;
	return row->value[0] == '[' ? optional_argument : required_argument;
}

/* "--output FILE", or "--watch[=SECONDS]". */
static const char *option_form(const struct option_row *row)
{
	return format_string("%s%s%s", row->name, argument_of(row) == required_argument ? " " : "",
			     row->value ? row->value : "");
}

static const char *usage_of(const struct command *command)
{
	return format_string("usage: xrc-compat %s [OPTION...]%s%s", command->name,
			     command->operands[0] ? " " : "", command->operands);
}

int advise_usage(const struct command *command)
{
	advise("%s", usage_of(command));
	advise("try: xrc-compat %s --help", command->name);
	return TOOL_EXIT_REFUSED;
}

int refuse_program_missing(const struct command *command)
{
	say("%s: no program given", command->name);
	return advise_usage(command);
}

void print_entry(const char *label, unsigned int column, const char *text)
{
	printf("%-*s", (int)column, label);
	style_wrap(stdout, text, column, column, style_help_width());
	putchar('\n');
}

static int print_help(const struct command *command)
{
	printf("%s\n\n%s\n%s", usage_of(command), command->summary,
	       command->options[0].name ? "\nOptions:\n" : "");
	for (const struct option_row *row = command->options; row->name; row++) {
		printf("  %s\n", option_form(row));
		print_entry("", HELP_INDENT, row->help);
	}
	if (command->more_help)
		command->more_help();
	printf("\nExample:\n  %s\n", command->example);
	return TOOL_EXIT_OK;
}

/* ---- reading ---- */

static int refuse_word(const struct command *command, const char *word, const char *why)
{
	say("%s: %s: %s", command->name, word, why);
	return advise_usage(command);
}

static int refuse_option(const struct command *command, const char *word)
{
	const char *names[OPTIONS_MAX + 1] = { NULL }, *nearest;

	for (size_t i = 0; command->options[i].name; i++)
		names[i] = command->options[i].name;
	nearest = nearest_name(word, names);
	return refuse_word(command, word,
			   nearest ? format_string("unknown option; did you mean %s?", nearest)
				   : "unknown option");
}

static int take_operand(const struct command *command, const char *word)
{
	if (command->operand_list) {
		string_list_add(command->operand_list, word);
		return 0;
	}
	if (!command->operand || *command->operand)
		return refuse_word(command, word, "unexpected argument");
	*command->operand = word;
	return 0;
}

/* @word: the option, as it was typed; @optarg is its value. */
static int take_option(const struct command *command, const struct option_row *row,
		       const char *word)
{
	if (optarg && !optarg[0])
		return refuse_word(command, word, "its value is missing");
	if (row->flag)
		*row->flag = true;
	if (row->text)
		*row->text = optarg ? optarg : "";
	if (row->list)
		string_list_add(row->list, optarg);
	return 0;
}

/* @kind: what getopt_long_only() has returned for @word. */
static int take_word(const struct command *command, int kind, const char *word)
{
	switch (kind) {
	case OPERAND:
		return take_operand(command, optarg);
	case ':':
		return refuse_word(command, word, "its value is missing");
	case '?':
		return optopt ? refuse_word(command, word, "it takes no value")
			      : refuse_option(command, word);
	default:
		return take_option(command, &command->options[kind - FIRST_OPTION], word);
	}
}

int command_execute(const struct command *command, int argc, char **argv)
{
	struct option known[OPTIONS_MAX + 2] = { { "help", no_argument, NULL, HELP } };
	int status = 0, kind;

	for (int i = 0; command->options[i].name; i++) {
		const struct option_row *row = &command->options[i];

		assert(i < OPTIONS_MAX);
		known[i + 1] = (struct option){ row->name + strspn(row->name, "-"),
						argument_of(row), NULL, FIRST_OPTION + i };
	}
	while (!status) {
		const char *word = argv[optind];

		kind = getopt_long_only(argc, argv, command->launches ? "+:" : "-:", known, NULL);
		if (kind == HELP)
			return print_help(command);
		if (kind == END)
			break;
		status = take_word(command, kind, word);
	}
	while (!status && !command->launches && argv[optind])
		status = take_operand(command, argv[optind++]);
	return status ? status : command->run(argv + optind);
}
