/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The softhca command. */
#include "cli.h"

#include <softhca/control/control.h>
#include <softhca/machine/settings.h>
#include <terminal/help.h>
#include <terminal/streams.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void say(const char *format, va_list args)
{
	fputs("softhca: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void cli_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

int cli_refuse(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return status;
}

static const struct {
	const char *name;
	int (*execute)(int argc, char **argv);
	const char *usage;
	const char *help;
} commands[] = {
	{ "run", cli_run, "run [--net] [--hosts=N] [--SETTING=VALUE...] [--] PROGRAM [ARGUMENT...]",
	  "runs a program on emulated HCAs of its own, which end with it\n"
	  "          --net       in a network namespace that has their addresses\n"
	  "          --hosts=N   rank R of an MPI job sees adapter R modulo N alone" },
	{ "start", cli_start, "start [--SETTING=VALUE...]",
	  "starts the emulated HCAs of this user" },
	{ "stop", cli_stop, "stop", "stops them; programs that use them see a dead device" },
	{ "status", cli_status, "status", "says whether they run, and with which settings" },
	{ "ssh", cli_ssh, "ssh HOST COMMAND [ARGUMENT...]",
	  "runs a command on the host of another adapter, as ssh does: mpirun --mca plm_rsh_agent 'softhca ssh'" },
	{ "ctl", cli_ctl, "ctl COMMAND [WORD...]",
	  "asks or tells the running daemon, also that of a run:" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	fputs("softhca emulates ConnectX-3 or ConnectX-5 HCAs under the machine's own libibverbs and libmlx4 or libmlx5.\n\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  softhca %s\n        %s\n", commands[i].usage, commands[i].help);
	control_help(out); /* of ctl, the last command */
	fputs("  softhca --help, --version\n\nSettings of run and start:\n", out);
	settings_help(out);
	fputs("\nEnvironment: SOFTHCA_DIR is the daemon's directory; run sets it for its program.\n"
	      "Without it: softhca in XDG_RUNTIME_DIR, or /tmp/softhca-UID. See softhca(1).\n"
	      "A program uses the HCAs of start when libsofthca.so is in its LD_PRELOAD.\n",
	      out);
}

static bool wants_help(int argc, char **argv)
{
	if (argc < 2)
		return false;
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return true;
	return help_wanted(argv + 2, !strcmp(argv[1], "run"));
}

static int execute(int argc, char **argv)
{
	if (wants_help(argc, argv)) {
		help(stdout);
		return CLI_OK;
	}
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("softhca " SOFTHCA_RELEASE);
		return CLI_OK;
	}
	for (size_t i = 0; argc > 1 && i < COMMANDS; i++) {
		if (!strcmp(commands[i].name, argv[1]))
			return commands[i].execute(argc - 1, argv + 1);
	}
	if (argc > 1)
		cli_say("unknown command '%s'", argv[1]);
	else
		cli_say("no command");
	fputs("Try 'softhca --help'.\n", stderr);
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	return streams_main("softhca", CLI_FAILED, execute, argc, argv);
}
