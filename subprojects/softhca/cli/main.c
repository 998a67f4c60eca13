/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The softhca command: its subcommands, and the help for each. */
#include "cli.h"

#include <control/control.h>
#include <machine/settings.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_WIDTH 80

static void explain_run(FILE *out)
{
	fputs("Options:\n"
	      "  --net\n"
	      "        in a network namespace that has the addresses of the adapters\n"
	      "  --hosts=N\n"
	      "        rank R of an MPI job sees adapter R modulo N alone\n",
	      out);
	settings_help(out);
}

static void explain_start(FILE *out)
{
	fputs("Options:\n", out);
	settings_help(out);
	fputs("\nA program uses these adapters when libsofthca.so is in its LD_PRELOAD.\n", out);
}

static void explain_ctl(FILE *out)
{
	fputs("Commands:\n", out);
	control_help(out);
}

static const struct command {
	const char *name;
	int (*execute)(int argc, char **argv);
	const char *words; /* in the usage, behind the name */
	const char *summary;
	void (*explain)(FILE *out); /* prints the meaning of the words; NULL = they have none */
} commands[] = {
	{ "run", cli_run, " [OPTION...] [--] PROGRAM [ARGUMENT...]",
	  "run a program on emulated adapters of its own, which end with it", explain_run },
	{ "start", cli_start, " [OPTION...]", "start the emulated adapters of this user",
	  explain_start },
	{ "stop", cli_stop, "", "stop them; programs that use them see a dead device", NULL },
	{ "status", cli_status, "", "say whether they run, and with which settings", NULL },
	{ "ssh", cli_ssh, " HOST COMMAND [ARGUMENT...]",
	  "run a command on the host of another adapter, as ssh does", NULL },
	{ "ctl", cli_ctl, " COMMAND [WORD...]",
	  "ask or tell the running daemon, also that of a run", explain_ctl },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* ---- help ---- */

/* Breaks a line between words. The rest of the line is indented like its beginning. */
static void print_line(FILE *out, const char *line)
{
	int indent = (int)strspn(line, " ");
	size_t room = HELP_WIDTH - (size_t)indent;

	line += indent;
	while (strlen(line) > room) {
		const char *end = line + room;

		while (end > line && *end != ' ')
			end--;
		if (end == line)	/* a word that is longer */
			break;
		fprintf(out, "%*s%.*s\n", indent, "", (int)(end - line), line);
		line = end + 1;
	}
	fprintf(out, "%*s%s\n", indent, "", line);
}

static void explain_all(FILE *out)
{
	fputs("usage: softhca COMMAND [ARGUMENT...]\n"
	      "       softhca --help | --version\n"
	      "\n"
	      "Emulates ConnectX-3 or ConnectX-5 adapters under the machine's own libibverbs and libmlx4 or libmlx5.\n"
	      "\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-6s  %s\n", commands[i].name, commands[i].summary);
	fputs("\nsofthca COMMAND --help explains its options.\n"
	      "\nEnvironment: SOFTHCA_DIR is the daemon's directory; run sets it for its program. "
	      "Without it: softhca in XDG_RUNTIME_DIR, or /tmp/softhca-UID.\n"
	      "\nSee also: man softhca\n", out);
}

static void explain(FILE *out, const struct command *command)
{
	fprintf(out, "usage: softhca %s%s\n\n%s\n", command->name, command->words, command->summary);
	if (!command->explain)
		return;
	fputc('\n', out);
	command->explain(out);
}

/* @command: NULL for all. */
static void print_help(FILE *out, const struct command *command)
{
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *page = open_memstream(&text, &size);

	if (!page)
		return;
	if (command)
		explain(page, command);
	else
		explain_all(page);
	fclose(page);
	rest = text;
	while ((line = strsep(&rest, "\n")) && (rest || *line))
		print_line(out, line);
	free(text);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

/* ---- the command line ---- */

static int help(const struct command *command)
{
	print_help(stdout, command);
	return CLI_OK;
}

static bool is_help(const char *word)
{
	return word && (!strcmp(word, "--help") || !strcmp(word, "-h"));
}

static int execute(int argc, char **argv)
{
	bool asked = argc > 1 && !strcmp(argv[1], "help");
	const char *name = argc > 1 ? argv[asked ? 2 : 1] : NULL;
	const struct command *command;
	int status;

	if (!name && !asked) {
		print_help(stderr, NULL);
		return CLI_REFUSED;
	}
	if (!name || is_help(name))
		return help(NULL);
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("softhca " SOFTHCA_RELEASE);
		return CLI_OK;
	}
	command = find_command(name);
	if (!command)
		return cli_refuse(CLI_REFUSED, "unknown command '%s'" CLI_TRY "--help", name);
	if (asked || is_help(argv[2]))
		return help(command);
	status = command->execute(argc - 1, argv + 1);
	return status == CLI_HELP ? help(command) : status;
}

int main(int argc, char **argv)
{
	return cli_main(execute, argc, argv);
}
