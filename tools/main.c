/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The xrc-compat command: finds the subcommand in a table and calls it. */
#include "tools_config.h"

#include <tools/files/paths.h>
#include <tools/job/variables.h>
#include <tools/text/command.h>
#include <tools/text/message.h>
#include <tools/text/streams.h>

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* In the order of --help. */
static const struct command *const commands[] = {
	&command_run, &command_check, &command_trace, &command_ps, &command_gc, &command_selftest,
	&command_doctor, &command_report, &command_env, NULL,
};

static void explain_variable(const char *name, const char *value_if_unset, const char *help)
{
	print_text(stdout, "  %s\n", name);
	print_entry("", 8, help);
	print_entry("        default:", 17, value_if_unset);
}

static void list_commands(FILE *out)
{
	fputs("usage: xrc-compat COMMAND [ARGUMENT...]\n"
	      "       xrc-compat help [COMMAND] | --help | --version\n\n"
	      "Runs old programs that use the XRC verbs of OFED 1.3-1.5 on today's rdma-core.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; commands[i]; i++)
		print_text(out, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nxrc-compat COMMAND --help explains its options.\n", out);
}

static int print_help(void)
{
	list_commands(stdout);
	puts("\nEnvironment:");
#define ROW(NAME, IN_PROGRAM, ...) explain_variable(#NAME, __VA_ARGS__);
	XRC_COMPAT_ENV_TABLE(ROW)
#undef ROW
	puts("\nSee also: man xrc-compat, man 7 xrc-compat");
	return TOOL_EXIT_OK;
}

static int execute_command(const char *name, int argc, char **argv)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return command_execute(commands[i], argc, argv);
	}
	say("there is no command '%s'", name);
	advise("try: xrc-compat --help");
	return TOOL_EXIT_REFUSED;
}

static int execute(int argc, char **argv)
{
	char *help[] = { (char *)"help", (char *)"--help", NULL };

	if (argc < 2) {
		list_commands(stderr);
		return TOOL_EXIT_REFUSED;
	}
	if (!strcmp(argv[1], "help") && argc > 2)
		return execute_command(argv[2], 2, help);
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help();
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("xrc-compat " TOOLS_VERSION);
		return TOOL_EXIT_OK;
	}
	/* The commands find their files beside their own. */
	if (!paths_self())
		return refuse(TOOL_EXIT_REFUSED, "/proc/self/exe cannot be read: mount /proc");
	return execute_command(argv[1], argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) /* for text.c; old systems lack it */
		setlocale(LC_CTYPE, "");
	/* A parent in perl or Python may have ignored it; then waitpid(2) fails. */
	signal(SIGCHLD, SIG_DFL);
	return streams_main("xrc-compat", execute, argc, argv);
}
