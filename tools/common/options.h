/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The options of a command: one table of rows, from which the command line is read and --help is
 * printed.
 */
#ifndef XRC_COMPAT_TOOLS_OPTIONS_H
#define XRC_COMPAT_TOOLS_OPTIONS_H

#include <stdbool.h>

struct command;

struct option_row {
	char key;		/* what options_next() returns for it */
	const char *name;	/* "--json" or "-o" */
	/* "FILE": needed, behind "=" or as the next word; "[=N]": may follow "="; NULL: none */
	const char *value;
	const char *help;
};

struct option_words {
	const struct command *command;
	char **word;		/* up to NULL; at first behind the name of the command */
	/* of the option that was returned; the word itself with OPTION_OPERAND */
	const char *value;
};

enum { OPTIONS_END = 0, OPTION_WRONG = -1, OPTION_OPERAND = '.' };

/*
 * The key of the next option. OPTION_OPERAND: a word that is no option. OPTION_WRONG: this command
 * does not take the word, which a message has said. For a command that launches a program, the
 * words end with that program's name, which words->word points to.
 */
int options_next(struct option_words *words);

/*
 * Whether --help is among the words that are the command's own: neither a value, nor behind "--" or
 * the program that it launches.
 */
bool options_want_help(const struct command *command, char *const *words);

/*
 * Refuses a word of the command line that @command does not take, and says how it is used.
 * TOOL_EXIT_REFUSED.
 */
int refuse_word(const struct command *command, const char *word);

/* The usage of @command with its options, which was asked for. TOOL_EXIT_OK. */
int print_usage(const struct command *command);

/* The usage as a second line under a refusal. TOOL_EXIT_REFUSED. */
int advise_usage(const struct command *command);

/*
 * The nearest to @word of the names, each at a distance of @stride bytes, as in a table of structs.
 * NULL: none is near.
 */
const char *nearest_name(const char *word, const char *const *name, unsigned int count,
			 unsigned int stride);

#endif
