/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads a command line by the command's table of options, and explains them. */
#include "common.h"
#include "terminal/style.h"

#include <stdio.h>
#include <string.h>

#define OPTIONS_MAX 16
#define HELP_INDENT 8

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

/* ---- reading ---- */

/* "-o": its value may follow at once. */
static bool is_letter(const struct option_row *row)
{
	return row->name[1] != '-';
}

static bool needs_value(const struct option_row *row)
{
	return row->value && row->value[0] != '[';
}

/* The row of the option in @word, which ends at "=" or with the word. */
static const struct option_row *find_row(const struct command *command, const char *word)
{
	for (const struct option_row *row = command->options; row && row->name; row++) {
		size_t length = strlen(row->name);

		if (!strncmp(word, row->name, length) &&
		    (!word[length] || word[length] == '=' || is_letter(row)))
			return row;
	}
	return NULL;
}

/* The option that @word may stand for, or NULL. */
static const char *nearest_option(const struct command *command, const char *word)
{
	const struct option_row *row = command->options;
	const char *names[OPTIONS_MAX + 1] = { NULL };

	for (size_t i = 0; row && row[i].name && i < OPTIONS_MAX; i++)
		names[i] = row[i].name;
	return nearest_name(word, names);
}

static int refuse_operand(const struct command *command, const char *word)
{
	refuse(0, "%s: %s: unexpected argument", command->name, word);
	return advise_usage(command);
}

/* Refuses an option that @command does not take. TOOL_EXIT_REFUSED. */
static int refuse_option(const struct command *command, const char *word)
{
	const struct option_row *row = find_row(command, word);
	const char *nearest = nearest_option(command, word);

	if (row)
		refuse(0, "%s: %s: %s", command->name, word,
		       row->value ? "its value is missing" : "it takes no value");
	else
		refuse(0, "%s: %s: unknown option%s%s%s", command->name, word,
		       nearest ? "; did you mean " : "", nearest ? nearest : "",
		       nearest ? "?" : "");
	return advise_usage(command);
}

/* Takes the option @word of that row, whose value may be the next word. */
static int take_option(const struct command *command, const struct option_row *row, char *word,
		       char ***words)
{
	char *value = is_letter(row) && word[2] ? word + 1 : strchr(word, '=');

	if (value)
		value++;
	else if (needs_value(row) && **words)
		value = *(*words)++;
	if (value ? !row->value || !value[0] : needs_value(row))
		return refuse_option(command, word);
	if (row->flag)
		*row->flag = true;
	if (row->text)
		*row->text = value ? value : "";
	if (row->list)
		string_list_add(row->list, value);
	return 0;
}

int options_read(const struct command *command, char ***words)
{
	bool only_operands = false;
	int status = 0;

	while (!status && **words && !(command->launches && ***words != '-')) {
		char *word = *(*words)++;
		const struct option_row *row = find_row(command, word);

		if (!strcmp(word, "--") && command->launches)
			break;
		if (!strcmp(word, "--") && !only_operands)
			only_operands = true;
		else if (row && !only_operands)
			status = take_option(command, row, word, words);
		else if ((word[0] != '-' || only_operands) && command->operand &&
			 !*command->operand)
			*command->operand = word;
		else
			status = word[0] != '-' || only_operands ? refuse_operand(command, word)
								 : refuse_option(command, word);
	}
	return status;
}

static bool value_follows(const struct command *command, const char *word)
{
	const struct option_row *row = find_row(command, word);

	return row && needs_value(row) && !strchr(word, '=');
}

bool options_want_help(const struct command *command, char *const *words)
{
	for (; *words && strcmp(*words, "--") && !(command->launches && **words != '-'); words++) {
		if (!strcmp(*words, "--help"))
			return true;
		if (value_follows(command, *words) && words[1] && strcmp(words[1], "--help") != 0)
			words++;
	}
	return false;
}

/* ---- explaining ---- */

/* "--output FILE", or "--watch[=SECONDS]". */
static const char *option_form(const struct option_row *row)
{
	return format_string("%s%s%s", row->name, needs_value(row) ? " " : "",
			     row->value ? row->value : "");
}

static const char *synopsis(const struct command *command)
{
	const char *text = format_string("usage: xrc-compat %s", command->name);

	for (const struct option_row *row = command->options; row && row->name; row++)
		text = format_string("%s [%s]", text, option_form(row));
	return command->operands ? format_string("%s %s", text, command->operands) : text;
}

int advise_usage(const struct command *command)
{
	advise("%s", synopsis(command));
	return TOOL_EXIT_REFUSED;
}

int print_usage(const struct command *command)
{
	style_wrap(stdout, synopsis(command), 0, HELP_INDENT, style_help_width());
	printf("\n\n");
	style_wrap(stdout, command->summary, 0, 0, style_help_width());
	printf("\n%s", command->options ? "\nOptions:\n" : "");
	for (const struct option_row *row = command->options; row && row->name; row++) {
		printf("  %s\n%*s", option_form(row), HELP_INDENT, "");
		style_wrap(stdout, row->help, HELP_INDENT, HELP_INDENT, style_help_width());
		putchar('\n');
	}
	if (command->more_help)
		command->more_help();
	printf("\nExample:\n  %s\n", command->example);
	return TOOL_EXIT_OK;
}
