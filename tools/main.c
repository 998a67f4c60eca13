/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The xrc-compat command: finds the subcommand in a table and calls it. */
#include "terminal/streams.h"
#include "terminal/style.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools_config.h"

#include <stdio.h>
#include <string.h>

#define SYSTEM_LIBIBVERBS \
	{ 'i', "--system-libibverbs", NULL, \
	  "preload the system's libibverbs in any case, for scripts that set LD_LIBRARY_PATH to an old one" }

static const struct option_row run_options[] = {
	LAUNCH_OPTIONS,
	SYSTEM_LIBIBVERBS,
	{ 0 },
};

static const struct option_row check_options[] = {
	{ 'd', "--device", "NAME", "ask for this device; without it any with XRC will do" },
	{ 'p', "--plugin", "FILE",
	  "look at this library too, which the program opens by itself; may be given several times" },
	{ 'j', "--json", NULL, "print the report as JSON" },
	{ 0 },
};

static const struct option_row trace_options[] = {
	LAUNCH_OPTIONS,
	{ 'o', "--output", "FILE",
	  "write the trace there instead of to standard error. %p is replaced by the process, %h by the host, %r by "
	  "the MPI rank. A file that is there already is kept: FILE.1, FILE.2, ... is written instead" },
	{ 'j', "--json", NULL, "write one JSON object when the program has ended" },
	{ 't', "--port-to", NULL, "say at the end what to port each function to" },
	{ 0 },
};

static const struct option_row ps_options[] = {
	{ 'o', "-o", "COLUMN[,COLUMN...]", "print these columns" },
	{ 'j', "--json", NULL, "print JSON, with all columns if -o names none" },
	{ 'n', "--noheadings", NULL, "leave out the line of headings" },
	{ 'w', "--watch", "[=SECONDS]", "print repeatedly, every 2 seconds or as given" },
	{ 0 },
};

static const struct option_row gc_options[] = {
	{ 'n', "--dry-run", NULL, "only say what would be removed" },
	{ 0 },
};

static const struct option_row selftest_options[] = {
	LAUNCH_OPTIONS,
	{ 'd', "--device", "NAME", "test this device; without it, the first one with XRC" },
	{ 'l', "--listen", NULL,
	  "be the second host of a test between two hosts: wait for --connect" },
	{ 'c', "--connect", "HOST",
	  "run one side of the test on this host, where selftest --listen runs" },
	{ 'p', "--port", "PORT", "the TCP port of both, 18515 if not given" },
	{ 0 },
};

static const struct option_row doctor_options[] = {
	{ 'j', "--json", NULL, "print JSON" },
	{ 0 },
};

static const struct option_row report_options[] = {
	{ 'o', "--output", "FILE",
	  "write it there instead of xrc-compat-report.md; a file that is there already is kept" },
	LAUNCH_OPTIONS,
	{ 0 },
};

static const struct option_row env_options[] = {
	SYSTEM_LIBIBVERBS,
	{ 0 },
};

static const struct command commands[] = {
	{ "run", run_options, "[--] PROGRAM [ARGUMENT...]",
	  "run an old program with the legacy XRC verbs",
	  "xrc-compat run --softhca=2 -- ./xrc_bench server1", command_run, NULL, true },
	{ "check", check_options, "PROGRAM",
	  "say whether a program will run here, and by which command",
	  "xrc-compat check ./old-solver", command_check, NULL, false },
	{ "trace", trace_options, "[--] PROGRAM [ARGUMENT...]",
	  "run a program, and show every legacy call",
	  "mpirun -n 4 xrc-compat trace --output trace.%r ./old-solver", command_trace, NULL,
	  true },
	{ "ps", ps_options, NULL, "list the registrations with receive QPs, also of dead processes",
	  "xrc-compat ps -o QP,PID,COMMAND,STATE", command_ps, ps_columns_print, false },
	{ "gc", gc_options, NULL, "remove the registration tables that only dead processes used",
	  "xrc-compat gc --dry-run", command_gc, NULL, false },
	{ "selftest", selftest_options, NULL,
	  "carry out the whole legacy exchange on a device, and say what works",
	  "xrc-compat selftest --device mlx5_0", command_selftest, NULL, false },
	{ "doctor", doctor_options, NULL, "say what is wrong on this machine, and how to fix it",
	  "xrc-compat doctor --json", command_doctor, NULL, false },
	{ "report", report_options, "[PROGRAM]",
	  "write one file with the facts, to attach to a question",
	  "xrc-compat report ./old-solver", command_report, NULL, false },
	{ "env", env_options, "[[LAUNCHER [ARGUMENT...]] PROGRAM [ARGUMENT...]]",
	  "print the command line for each MPI launcher, or for the one given",
	  "xrc-compat env mpirun_rsh -np 4 -hostfile hosts ./old-solver", command_env, NULL, true },
	{ "env-vars", NULL, NULL, "list the environment variables", "xrc-compat env-vars",
	  command_env_vars, NULL, false },
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
	puts("usage: xrc-compat COMMAND [ARGUMENT...]\n"
	     "       xrc-compat --help | --version\n"
	     "\n"
	     "Runs old programs that use the XRC verbs of OFED 1.3-1.5 on today's rdma-core.\n"
	     "\n"
	     "Commands:");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-8s  %s\n", commands[i].name, commands[i].summary);
	puts("\n"
	     "xrc-compat COMMAND --help explains its options.\n"
	     "\n"
	     "Environment:");
	env_vars_print();
	puts("\nSee also: man xrc-compat, man 7 xrc-compat");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *nearest =
		name ? nearest_name(name, &commands[0].name, COMMAND_COUNT, sizeof(commands[0]))
		     : NULL;

	if (name)
		refuse(0, "there is no command '%s'", name);
	else
		refuse(0, "no command given");
	if (nearest)
		advise("did you mean: xrc-compat %s", nearest);
	advise("try: xrc-compat --help");
	return TOOL_EXIT_REFUSED;
}

static int execute(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2)
		return unknown_command(NULL);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help();
		return TOOL_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("xrc-compat " TOOLS_VERSION);
		return TOOL_EXIT_OK;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return options_want_help(command, argv + 2) ? print_usage(command)
						    : command->run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return streams_main("xrc-compat", TOOL_EXIT_REFUSED, execute, argc, argv);
}
