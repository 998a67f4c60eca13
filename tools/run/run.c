/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat run`: checks that the library can be preloaded, sets LD_PRELOAD, and execs. */
#include "run.h"

#include <tools/files/paths.h>
#include <tools/files/preload.h>
#include <tools/text/command.h>
#include <tools/text/message.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "softhca run --devices=N [SETTING...] -- xrc-compat run [OPTION...] -- PROGRAM..." */
static char **softhca_argv(const char *softhca, const struct launch *launch)
{
	bool given = launch->softhca && launch->softhca[0];
	const char *const before[] = {
		softhca, "run", format_string("--devices=%s", given ? launch->softhca : "2"),
		launch->model ? format_string("--model=%s", launch->model) : NULL,
		launch->machines ? format_string("--machines=%s", launch->machines) : NULL,
		"--", paths_self(), "run",
		launch->wish.system_libibverbs ? "--system-libibverbs" : NULL,
		launch->wish.companions ? "--companions" : NULL,
		launch->summary ? "--summary" : NULL, "--"
	};
	struct string_list words = { 0 };

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		if (before[i])
			string_list_add(&words, before[i]);
	}
	for (char **word = launch->program; *word; word++)
		string_list_add(&words, *word);
	string_list_add(&words, NULL);
	return words.item;
}

/*
 * The emulator's launcher starts this command again, inside its environment, and this command then
 * sets LD_PRELOAD. So the launcher and its daemon never load the shim.
 */
static int exec_under_softhca(const struct launch *launch)
{
	const char *softhca = paths_softhca();

	if (!softhca)
		return refuse_missing("softhca, the emulated HCA,", "softhca");
	execv(softhca, softhca_argv(softhca, launch));
	return refuse(TOOL_EXIT_REFUSED, "%s: %s", softhca, strerror(errno));
}

/* Adds the tracing library if `xrc-compat trace` has started this process. */
static int add_tracer(int bits, struct string_list *libraries)
{
	const char *socket = getenv("XRC_COMPAT_TRACE"), *tracer;

	if (!socket || !socket[0])
		return 0;
	tracer = paths_library(bits, "tools/trace/library/libxrc-trace.so");
	if (tracer) {
		string_list_add(libraries, tracer);
		return 0;
	}
	say("trace: libxrc-trace.so for %d-bit programs was not found", bits);
	advise(bits == OWN_BITS ? "install the package libxrc-trace (RPM: xrc-compat-trace)"
				: "install a build of xrc-compat for them too (docs/32-bit.md)");
	return TOOL_EXIT_REFUSED;
}

void set_variable(const char *name, const char *value, bool overwrite)
{
	if (setenv(name, value, overwrite))
		need_memory(NULL);
}

/* Sets those variables of the companions that are not set. */
static void set_mvapich2_variables(void)
{
	for (const struct companion *row = companions; row->name; row++) {
		if (row->variable)
			set_variable(row->variable, row->today, false);
	}
}

static int exec_program(const char *shim, const struct program *program,
			const struct launch *launch)
{
	struct string_list libraries = { 0 };
	int status = add_tracer(program->elf.bits, &libraries);

	if (status)
		return status;
	needs_add_interposers(&libraries);
	string_list_add(&libraries, shim);
	needs_add(program, launch->program + 1, &launch->wish, &libraries);
	set_variable("LD_PRELOAD", preload_value(&libraries, false), true);
	set_mvapich2_variables();
	if (launch->summary)
		set_variable("XRC_COMPAT_SUMMARY", "1", true);
	execv(program->path, launch->program);
	status = errno == ENOENT ? TOOL_EXIT_NOT_FOUND : TOOL_EXIT_NOT_EXECUTABLE;
	return refuse(status, "%s: %s", program->path, strerror(errno));
}

/*
 * The loader only warns about a library that it cannot preload, and the program dies much later of
 * a missing symbol. So everything is checked before the exec.
 */
int launch_program(const struct launch *launch)
{
	static struct program program;
	struct elf_info shim_elf;
	int status = program_open(launch->program[0], &program);
	const char *shim = NULL, *fault;

	if (!status && (fault = paths_shim(program.elf.bits, &shim, &shim_elf)))
		return refuse(TOOL_EXIT_REFUSED, "%s", fault);
	if (!status)
		status = program_refuse(&program, &shim_elf);
	if (status) {
		program_say_fault(&program);
		return status;
	}
	return launch->softhca || launch->model ? exec_under_softhca(launch)
						: exec_program(shim, &program, launch);
}

static struct launch launch;

static int run_run(char **words)
{
	const char *machines = launch.machines;

	if (machines && !launch.softhca && !launch.model)
		return refuse(TOOL_EXIT_REFUSED, "run: --machines needs --softhca or --model");
	/* The daemon changes its directory, and ranks may be started in different ones. */
	if (machines && !(launch.machines = realpath(machines, NULL)))
		return refuse(TOOL_EXIT_REFUSED, "--machines=%s: %s", machines, strerror(errno));
	launch.program = words;
	return launch_program(&launch);
}

static const struct option_row options[] = {
	LAUNCH_OPTIONS(launch),
	{ "--machines", "FILE",
	  "one wire connects the emulated adapters of all machines that this file lists, as an MPI's hostfile",
	  .text = &launch.machines },
	PRELOAD_OPTIONS(launch.wish),
	{ "--summary", NULL,
	  "print at the end of each process which devices it has opened, and how much XRC it used",
	  .flag = &launch.summary },
	{ 0 },
};

const struct command command_run = {
	"run", options, "[--] PROGRAM [ARGUMENT...]", "run an old program with the legacy XRC verbs",
	"xrc-compat run --softhca=2 -- ./xrc_bench server1", run_run, .launches = true,
	.needs_program = true,
};
