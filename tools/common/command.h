/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a subcommand of xrc-compat is, and the exit statuses all of them share. */
#ifndef XRC_COMPAT_TOOLS_COMMAND_H
#define XRC_COMPAT_TOOLS_COMMAND_H

#include <stdbool.h>

/*
 * A launcher shares its exit status with the program it runs; like env(1), nohup(1) and timeout(1)
 * it therefore speaks for itself only with the last three values that a shell leaves free.
 */
enum tool_exit {
	TOOL_EXIT_OK = 0,
	/* wrong usage, or running would not do what was asked for */
	TOOL_EXIT_REFUSED = 125,
	TOOL_EXIT_NOT_EXECUTABLE = 126, /* found, but the kernel would not execute it */
	TOOL_EXIT_NOT_FOUND = 127,
};

struct string_list;

struct option_row {
	const char *name;	/* "--json" or "-o" */
	/* "FILE": needed, behind "=" or as the next word; "[=N]": may follow "="; NULL: none */
	const char *value;
	const char *help;
	/* What the option sets; the others are NULL. */
	bool *flag;		  /* without a value: becomes true */
	const char **text;	  /* gets the value; "" if none follows */
	struct string_list *list; /* may be given several times: gets each value */
};

struct command {
	const char *name;
	const struct option_row *options; /* up to a row without a name; NULL: it has none */
	const char *operands; /* what follows the options, as the usage prints it; NULL: nothing */
	const char *summary;
	const char *example;
	/* @words: the program to launch and its words. The result is the exit status. */
	int (*run)(char **words);
	const char **operand;	 /* gets the only operand; NULL: the command has none */
	bool launches;		 /* a program and that one's words follow its own */
	void (*more_help)(void); /* prints what --help says behind the options; NULL: nothing */
};

extern const struct command command_check, command_doctor, command_env, command_env_vars,
	command_gc, command_ps, command_report, command_run, command_selftest, command_trace;

/*
 * A program to be started with the library, by `run` and by the commands that are another way to a
 * program.
 */
struct launch {
	const struct command *command;
	/*
	 * of --softhca: the number of devices, "" for the default; NULL: the machine's own devices
	 */
	const char *softhca;
	const char *model;	/* of --model, or NULL */
	bool system_libibverbs;	/* of --system-libibverbs */
	char **program;		/* NULL-terminated */
};

#define LAUNCH_OPTIONS(launch) \
	{ "--softhca", "[=DEVICES]", \
	  "use emulated adapters, 2 or as many as given, instead of the machine's own", \
	  .text = &(launch).softhca }, \
	{ "--model", "NAME", \
	  "with --softhca: which adapter is emulated, connectx3 (mlx4) or connectx5 (mlx5)", \
	  .text = &(launch).model }

#define SYSTEM_LIBIBVERBS(wanted) \
	{ "--system-libibverbs", NULL, \
	  "preload the system's libibverbs in any case, for scripts that set LD_LIBRARY_PATH to an old one", \
	  .flag = &(wanted) }

/* Executes the program. Returns the exit status, after a message, when that cannot be done. */
int launch_program(const struct launch *launch);

/* Prints the environment table; the same text in --help and in env-vars. */
void env_vars_print(void);

#endif
