/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The xrc-compat command: finds the subcommand in one table and hands over. */
#include "terminal/help.h"
#include "terminal/streams.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools_config.h"

#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
	{ "run", "[--softhca[=DEVICES] [--model=NAME]] [--system-libibverbs] [--] PROGRAM [ARGUMENT...]", "run an old program with the legacy XRC verbs",
	  command_run, NULL, true },
	{ "check", "PROGRAM [--device NAME] [--plugin FILE]... [--json]",
	  "will this program run here, and which command does it", command_check, NULL, false },
	{ "trace", "[--softhca[=DEVICES]] [--json] [--output FILE] [--porting-report FILE] [--] PROGRAM [ARGUMENT...]",
	  "run it, show every legacy call and what to port it to", command_trace, NULL, true },
	{ "ps", "[-o COLUMN[,COLUMN...]] [--json] [--noheadings] [--watch[=SECONDS]]",
	  "who is registered with which receive QP", command_ps, ps_columns_print, false },
	{ "gc", "[--dry-run]", "remove the registration tables that only dead processes used", command_gc, NULL, false },
	{ "selftest", "[--device NAME] [--softhca[=DEVICES]] [--listen | --connect HOST] [--port PORT]",
	  "play the whole legacy exchange on a device, and say what holds", command_selftest, NULL, false },
	{ "doctor", "", "what is wrong on this machine, in the order to mend it", command_doctor, NULL, false },
	{ "report", "[--output FILE] [--softhca[=DEVICES]] [PROGRAM]",
	  "one file to attach to a question: versions, doctor, check, self-test", command_report, NULL, false },
	{ "env", "[--system-libibverbs] [PROGRAM]", "the lines to type for MPI launchers", command_env, NULL, false },
	{ "env-vars", "", "list the environment variables", command_env_vars, NULL, false },
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
	puts("usage: xrc-compat COMMAND [ARGUMENT...]\n"
	     "\n"
	     "Runs programs of the OFED 1.3-1.5 era, which use InfiniBand XRC, on today's rdma-core.\n"
	     "\n"
	     "Commands:");
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		printf("  %s%s%s\n", commands[i].name, commands[i].synopsis[0] ? " " : "", commands[i].synopsis);
		printf("        %s\n", commands[i].summary);
	}
	puts("  --help, --version\n"
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
	if (name)
		refuse(0, "there is no command '%s'", name);
	else
		refuse(0, "no command given");
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
	if (!strcmp(argv[1], "--version")) {
		puts("xrc-compat " TOOLS_VERSION);
		return TOOL_EXIT_OK;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return help_wanted(argv + 2, command->launches) ? print_usage(command) : command->run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return streams_main("xrc-compat", TOOL_EXIT_REFUSED, execute, argc, argv);
}
