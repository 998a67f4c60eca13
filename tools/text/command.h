/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A command: its options, its --help and its exit statuses follow from one table. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include <stdbool.h>

struct string_list;

/* As of env(1): a launcher shares its exit status with the program that it runs. */
enum tool_exit {
	TOOL_EXIT_OK = 0,
	TOOL_EXIT_REFUSED = 125,
	TOOL_EXIT_NOT_EXECUTABLE = 126, /* found, but the kernel would not execute it */
	TOOL_EXIT_NOT_FOUND = 127,
};

struct option_row {
	const char *name;	/* "--json" or "-o" */
	const char *value;	/* "FILE": needed; "[=N]": a number may follow; NULL: none */
	const char *help;
	/* The option sets one of these. The others are NULL. */
	bool *flag;		  /* becomes true; the option has no value */
	const char **text;	  /* gets the value; "" if none follows */
	struct string_list *list; /* gets each value: the option may be given several times */
};

struct command {
	const char *name;
	const struct option_row *options; /* up to a row without a name */
	const char *operands; /* what follows the options, as the usage prints it, or "" */
	const char *summary;
	const char *example;
	int (*run)(char **operands); /* up to NULL. The result is the exit status. */
	int most_operands;
	bool launches; /* its operands, of any number, are a program and the program's words */
	bool needs_program;	 /* it refuses a line without operands */
	void (*more_help)(void); /* prints more of --help, behind the options; NULL: nothing */
};

extern const struct command command_check, command_doctor, command_env, command_gc, command_ps,
	command_report, command_run, command_selftest, command_trace;

/* Reads @argv, which begins with the command's name, and runs the command. Its exit status. */
int command_execute(const struct command *command, int argc, char **argv);

/* A line of help: @text, broken between words, stands from @column on. */
void print_entry(const char *label, unsigned int column, const char *text);

#endif
