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

struct option_row;

struct command {
	const char *name;
	const struct option_row *options; /* up to a row without a name; NULL: it has none */
	const char *operands; /* what follows the options, as the usage prints it; NULL: nothing */
	const char *summary;
	const char *example;
	/*
	 * argv[0] is the name of the subcommand; the result is the exit status. @self is for what
	 * it says of its usage.
	 */
	int (*run)(const struct command *self, int argc, char **argv);
	void (*more_help)(void); /* prints what --help says behind the options; NULL: nothing */
	bool launches;		 /* a program and that one's words follow its own */
};

/*
 * A program to be started with the library, by `run` and by the commands that are another way to a
 * program.
 */
struct launch {
	const struct command *self;
	/*
	 * of --softhca: the number of devices, "" for the default; NULL: the machine's own devices
	 */
	const char *softhca;
	const char *model;	/* of --model, or NULL */
	bool system_libibverbs;	/* of --system-libibverbs */
	char **program;		/* NULL-terminated */
};

#define LAUNCH_OPTIONS \
	{ 's', "--softhca", "[=DEVICES]", \
	  "use emulated adapters, 2 or as many as given, instead of the machine's own" }, \
	{ 'm', "--model", "NAME", \
	  "with --softhca: which adapter is emulated, connectx3 (mlx4) or connectx5 (mlx5)" }

/* Takes what options_next() returned, if it is one of LAUNCH_OPTIONS. */
bool launch_option(struct launch *launch, int option, const char *value);

/* Executes the program. Returns the exit status, after a message, when that cannot be done. */
int launch_program(const struct launch *launch);

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
