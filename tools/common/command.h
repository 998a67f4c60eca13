/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a subcommand of xrc-compat is, and the exit statuses all of them share. */
#ifndef XRC_COMPAT_TOOLS_COMMAND_H
#define XRC_COMPAT_TOOLS_COMMAND_H

#include <stdbool.h>

/*
 * A launcher shares its exit status with the program it runs; like env(1), nohup(1) and timeout(1) it therefore speaks
 * for itself only with the last three values that a shell leaves free.
 */
enum tool_exit {
	TOOL_EXIT_OK = 0,
	TOOL_EXIT_REFUSED = 125,	/* wrong usage, or running would not do what was asked for */
	TOOL_EXIT_NOT_EXECUTABLE = 126, /* found, but the kernel would not execute it */
	TOOL_EXIT_NOT_FOUND = 127,
};

struct command {
	const char *name;
	const char *synopsis; /* what follows the name, as the help prints it */
	const char *summary;
	/*
	 * argv[0] is the name of the subcommand; the result is the exit status. @self is for what it says of its usage: for a
	 * command that is another one's way to a program, that one.
	 */
	int (*run)(const struct command *self, int argc, char **argv);
	void (*more_help)(void); /* prints what --help says behind the usage; NULL: nothing */
	bool launches;		 /* a program and that one's words follow its own */
};

int command_check(const struct command *self, int argc, char **argv);
int command_doctor(const struct command *self, int argc, char **argv);
int command_env(const struct command *self, int argc, char **argv);
int command_gc(const struct command *self, int argc, char **argv);
int command_ps(const struct command *self, int argc, char **argv);
int command_report(const struct command *self, int argc, char **argv);
int command_run(const struct command *self, int argc, char **argv);
int command_selftest(const struct command *self, int argc, char **argv);
int command_trace(const struct command *self, int argc, char **argv);
int command_env_vars(const struct command *self, int argc, char **argv);

/* What `xrc-compat ps --help` says of its columns. */
void ps_columns_print(void);

/* Prints the environment table; the same text in --help and in env-vars. */
void env_vars_print(void);

#endif
