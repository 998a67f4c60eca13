/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads a command line by the command's table of options, and explains them. */
#include "common.h"
#include "terminal/style.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_LENGTH 24
#define OPTIONS_MAX 16
#define HELP_INDENT 8

/* ---- did you mean ---- */

static unsigned int least(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int low = a < b ? a : b;

	return low < c ? low : c;
}

/* The edit distance: letters to change, add or remove. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[NAME_MAX_LENGTH + 1];
	size_t columns = strlen(b);

	if (columns > NAME_MAX_LENGTH)
		return NAME_MAX_LENGTH;
	for (unsigned int i = 0; i <= columns; i++)
		row[i] = i;
	for (unsigned int line = 1; *a; a++, line++) {
		unsigned int diagonal = row[0];

		row[0] = line;
		for (size_t i = 1; i <= columns; i++) {
			unsigned int above = row[i];

			row[i] = least(above + 1, row[i - 1] + 1, diagonal + (*a != b[i - 1]));
			diagonal = above;
		}
	}
	return row[columns];
}

const char *nearest_name(const char *word, const char *const *names)
{
	unsigned int low = strlen(word) < 5 ? 2 : 3;	/* with more changes it is another word */
	const char *nearest = NULL;

	for (; *names; names++) {
		if (distance(word, *names) >= low)
			continue;
		nearest = *names;
		low = distance(word, *names);
	}
	return nearest;
}

/* ---- reading ---- */

static unsigned int count_options(const struct command *command)
{
	unsigned int count = 0;

	while (command->options && command->options[count].name)
		count++;
	return count;
}

/* The row of the option in @word, which ends at "=" or with the word. */
static const struct option_row *find_row(const struct command *command, const char *word)
{
	for (unsigned int i = 0; i < count_options(command); i++) {
		size_t length = strlen(command->options[i].name);

		bool letter = command->options[i].name[1] != '-'; /* its value may follow at once */

		if (!strncmp(word, command->options[i].name, length) &&
		    (!word[length] || word[length] == '=' || letter))
			return &command->options[i];
	}
	return NULL;
}

/* The option that @word may stand for, or NULL. */
static const char *nearest_option(const struct command *command, const char *word)
{
	const char *names[OPTIONS_MAX + 1] = { NULL };

	for (unsigned int i = 0; i < count_options(command) && i < OPTIONS_MAX; i++)
		names[i] = command->options[i].name;
	return nearest_name(word, names);
}

/* Refuses a word that @command does not take. TOOL_EXIT_REFUSED. */
static int refuse_word(const struct command *command, const char *word)
{
	const struct option_row *row = find_row(command, word);
	const char *nearest = nearest_option(command, word);

	if (word[0] != '-')
		refuse(0, "%s: %s: unexpected argument", command->name, word);
	else if (row)
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
	char *value = row->name[1] != '-' && word[2] ? word + 1 : strchr(word, '=');

	if (!row->value && value)
		return refuse_word(command, word);
	value = value ? value + 1 : NULL;
	if (row->value && row->value[0] != '[' && !value && **words)
		value = *(*words)++;
	if (row->value && (row->value[0] == '[' ? value && !value[0] : !value || !value[0]))
		return refuse_word(command, word);
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
	int status = 0;

	while (!status && **words && !(command->launches && ***words != '-')) {
		char *word = *(*words)++;
		const struct option_row *row = find_row(command, word);

		if (!strcmp(word, "--") && command->launches)
			break;
		if (!strcmp(word, "--"))
			continue;
		if (row)
			status = take_option(command, row, word, words);
		else if (word[0] != '-' && command->operand && !*command->operand)
			*command->operand = word;
		else
			status = refuse_word(command, word);
	}
	return status;
}

static bool value_follows(const struct command *command, const char *word)
{
	const struct option_row *row = find_row(command, word);

	return row && row->value && row->value[0] != '[' && !strchr(word, '=');
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

/* "[--output FILE]", or "[--watch[=SECONDS]]". */
static size_t append_synopsis(const struct option_row *row, char *text, size_t size)
{
	return (size_t)snprintf(text, size, " [%s%s%s]", row->name,
				!row->value || row->value[0] == '[' ? "" : " ",
				row->value ? row->value : "");
}

static void synopsis(const struct command *command, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "usage: xrc-compat %s", command->name);

	for (unsigned int i = 0; i < count_options(command) && used < size; i++)
		used += append_synopsis(&command->options[i], text + used, size - used);
	if (command->operands && used < size)
		snprintf(text + used, size - used, " %s", command->operands);
}

int advise_usage(const struct command *command)
{
	char text[512];

	synopsis(command, text, sizeof(text));
	advise("%s", text);
	return TOOL_EXIT_REFUSED;
}

int print_usage(const struct command *command)
{
	char text[512];

	synopsis(command, text, sizeof(text));
	style_wrap(stdout, text, 0, HELP_INDENT, style_help_width());
	printf("\n\n");
	style_wrap(stdout, command->summary, 0, 0, style_help_width());
	printf("\n%s", command->options ? "\nOptions:\n" : "");
	for (unsigned int i = 0; i < count_options(command); i++) {
		const struct option_row *row = &command->options[i];

		printf("  %s%s%s\n%*s", row->name, !row->value || row->value[0] == '[' ? "" : " ",
		       row->value ? row->value : "", HELP_INDENT, "");
		style_wrap(stdout, row->help, HELP_INDENT, HELP_INDENT, style_help_width());
		putchar('\n');
	}
	if (command->more_help)
		command->more_help();
	printf("\nExample:\n  %s\n", command->example);
	return TOOL_EXIT_OK;
}
