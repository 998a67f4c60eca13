/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The xrc-compat command: finds the subcommand in a table and calls it. */
#include "terminal/streams.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/variables.h"
#include "tools_config.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* In the order of --help. */
static const struct command *const commands[] = {
	&command_run, &command_check, &command_trace, &command_ps, &command_gc, &command_selftest,
	&command_doctor, &command_report, &command_env,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void explain_variable(const char *name, const char *value_if_unset, const char *read_when,
			     const char *help)
{
	printf("  %s\n", name);
	print_entry("", 8, help);
	print_entry("        default:", 17, value_if_unset);
	print_entry("        read:", 17, read_when);
}

static void print_help(void)
{
	puts("usage: xrc-compat COMMAND [ARGUMENT...]\n"
	     "       xrc-compat --help | --version\n"
	     "\n"
	     "Runs old programs that use the XRC verbs of OFED 1.3-1.5 on today's rdma-core.\n"
	     "\n"
	     "Commands:");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	puts("\n"
	     "xrc-compat COMMAND --help explains its options.\n"
	     "\n"
	     "Environment:");
#define ROW(NAME, IN_PROGRAM, ...) explain_variable(#NAME, __VA_ARGS__);
	XRC_COMPAT_ENV_TABLE(ROW)
#undef ROW
	puts("\nSee also: man xrc-compat, man 7 xrc-compat");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[COMMAND_COUNT + 1] = { NULL };
	const char *nearest;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i]->name;
	nearest = name ? nearest_name(name, names) : NULL;
	if (name)
		say("there is no command '%s'", name);
	else
		say("no command given");
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
	return command ? command_execute(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "C.UTF-8");	/* for text.c */
	/* A parent in perl or Python may have ignored it; then waitpid(2) fails. */
	signal(SIGCHLD, SIG_DFL);
	return streams_main("xrc-compat", TOOL_EXIT_REFUSED, execute, argc, argv);
}
