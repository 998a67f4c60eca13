/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How the tools speak to people: one prefix, stderr for what went wrong. Names out of files and of other processes may hold
 * anything: whatever is no printable character comes out as '?'.
 */
#ifndef XRC_COMPAT_TOOLS_MESSAGE_H
#define XRC_COMPAT_TOOLS_MESSAGE_H

/* Prints "xrc-compat: MESSAGE" and returns @status, so that a refusal is one statement. */
int refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A second line under a refusal: what to do about it. */
void advise(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct command;

/* The usage of @command with its further help, which was asked for. TOOL_EXIT_OK. */
int print_usage(const struct command *command);

/* The usage as a second line under a refusal. TOOL_EXIT_REFUSED. */
int advise_usage(const struct command *command);

/* Refuses a word of the command line that @command does not take, and says how it is used. TOOL_EXIT_REFUSED. */
int refuse_word(const struct command *command, const char *word);

/* The same for what getopt_long(3) has complained of. Options that have no letter have values beyond those of letters. */
int refuse_option(const struct command *command, char *const *argv);

/* One line of a report, on standard output. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
