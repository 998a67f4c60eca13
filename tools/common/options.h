/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The options of a command: one table of rows, from which the command line is read and --help is
 * printed.
 */
#ifndef XRC_COMPAT_TOOLS_OPTIONS_H
#define XRC_COMPAT_TOOLS_OPTIONS_H

#include <stdbool.h>

struct command;

/*
 * Reads the words behind the name of the command. 0, or an exit status after a message. For a
 * command that launches a program *words is its name and its words afterwards.
 */
int options_read(const struct command *command, char ***words);

/*
 * Whether --help is among the words that are the command's own: neither a value, nor behind "--" or
 * the program that it launches.
 */
bool options_want_help(const struct command *command, char *const *words);

/* The usage of @command with its options, which was asked for. TOOL_EXIT_OK. */
int print_usage(const struct command *command);

/* The usage as a second line under a refusal. TOOL_EXIT_REFUSED. */
int advise_usage(const struct command *command);

/* The nearest to @word of the names, which end with NULL. NULL: none is near. */
const char *nearest_name(const char *word, const char *const *names);

#endif
