/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Starts a program with the library preloaded, for the commands that do what `run` does. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include <tools/program/needs.h>

struct launch {
	const char *softhca;	/* number of emulated devices, "" for the default */
	const char *model;	/* the value of --model; if both are NULL, nothing is emulated */
	const char *machines;	/* the list of --machines, or NULL */
	struct preload_wish wish;
	bool summary;		/* each process says at its end what it has used */
	char **program;		/* NULL-terminated */
};

#define LAUNCH_OPTIONS(launch) \
	{ "--softhca", "[=DEVICES]", \
	  "use emulated adapters, 2 or as many as given, instead of the machine's own", \
	  .text = &(launch).softhca }, \
	{ "--model", "connectx3|connectx5", \
	  "use emulated adapters of this model: ConnectX-3 (mlx4) or ConnectX-5 (mlx5)", \
	  .text = &(launch).model }

#define PRELOAD_OPTIONS(wish) \
	{ "--system-libibverbs", NULL, \
	  "preload the system's libibverbs in any case, for scripts that set LD_LIBRARY_PATH to an old one", \
	  .flag = &(wish).system_libibverbs }, \
	{ "--companions", NULL, \
	  "preload the companion libraries in any case, for scripts whose program cannot be found", \
	  .flag = &(wish).companions }

/* Executes the program. If that cannot be done it returns the exit status, after a message. */
int launch_program(const struct launch *launch);

/* setenv(3). Ends the command if there is no memory. */
void set_variable(const char *name, const char *value, bool overwrite);

#endif
