/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat env`: the lines to type so that the setting reaches every process of a parallel program, launcher by launcher. */
#include "quirks.h"
#include "elf/lib_folder.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/program/needs.h"
#include "tools/program/paths.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How a launcher gives its processes a variable: "before" NAME "between" VALUE, for each. */
struct launcher {
	const char *name;
	const char *command;
	const char *before;
	const char *between;
	const char *after;
};

static const struct launcher launchers[] = {
	{ "shell, ssh, batch script", "export", " ", "=", "" },
	{ "Open MPI", "mpirun", " -x ", "=", " PROGRAM" },
	{ "MPICH, Intel MPI, MVAPICH2 (Hydra)", "mpiexec", " -genv ", " ", " PROGRAM" },
	{ "MVAPICH, MVAPICH2 (mpirun_rsh)", "mpirun_rsh -np N HOST...", " ", "=", " PROGRAM" },
	{ "Platform MPI, HP-MPI", "mpirun", " -e ", "=", " PROGRAM" },
	/* Not --export=ALL,NAME=VALUE: what is set already wins there. */
	{ "Slurm", "srun env", " ", "=", " PROGRAM" },
};

/* As `run` sets it: the library first, then what is preloaded already where the line is typed, softhca for instance. */
static void print_launcher(const struct launcher *launcher, const char *library, const char *quote)
{
	printf("# %s\n%s", launcher->name, launcher->command);
	printf("%sLD_PRELOAD%s%s%s%s\"${LD_PRELOAD:+:$LD_PRELOAD}\"", launcher->before, launcher->between, quote, library, quote);
	for (size_t i = 0; i < quirks_count; i++)
		printf("%s%s%s\"${%s:-%s}\"", launcher->before, quirks[i].name, launcher->between, quirks[i].name, quirks[i].value);
	puts(launcher->after);
}

/* As a setting for both word sizes where there is one. @used: of the value's bytes. */
static size_t append(char *value, size_t size, size_t used, const char *library)
{
	char setting[PATH_MAX];

	if (!loader_lib_setting(library, LOADER_LIB_OWN_BITS, setting, sizeof(setting)))
		library = setting;
	return used + (size_t)snprintf(value + used, used < size ? size - used : 0, "%s%s", used ? ":" : "", library);
}

/* The library, and what @program needs besides (NULL: nothing is known of it). */
static int preload_value(const char *library, const char *program, bool system_libibverbs, char *value, size_t size)
{
	size_t used = append(value, size, 0, library);
	struct program opened;
	struct closure closure;
	struct needs needs;

	if (program_open(program ? program : library, &opened) && program) {
		program_close(&opened);
		return refuse(TOOL_EXIT_REFUSED, "env: %s: no program; try: xrc-compat check", program);
	}
	closure_read(opened.binary, &opened.elf, NULL, &closure);
	needs_read(&closure, &needs);
	for (size_t i = 0; i < needs.companion.count; i++)
		used = append(value, size, used, needs.companion.item[i]);
	if (needs.system_libibverbs[0] && (system_libibverbs || needs.old_libibverbs[0]))
		used = append(value, size, used, needs.system_libibverbs);
	needs_free(&needs);
	closure_free(&closure);
	program_close(&opened);
	return used < size ? 0 : refuse(TOOL_EXIT_REFUSED, "env: the line is too long");
}

/* What LD_PRELOAD has to be, so that it reaches the program without this command. */
static int find_library(const char **library)
{
	static struct path_candidates candidates;
	const char *fault;
	struct elf_info elf;

	paths_library(&candidates);
	*library = paths_first(&candidates);
	if (!*library || elf_info_read(*library, &elf))
		return refuse(TOOL_EXIT_REFUSED, "libxrc-compat.so.1 is not there, or no library; try: xrc-compat doctor");
	fault = paths_preload_fault(*library, &elf);
	elf_info_free(&elf);
	return fault ? refuse(TOOL_EXIT_REFUSED, "%s: %s", *library, fault) : 0;
}

int command_env(const struct command *self, int argc, char **argv)
{
	bool system_libibverbs = argc > 1 && !strcmp(argv[1], "--system-libibverbs");
	int next = system_libibverbs ? 2 : 1;
	char value[4 * PATH_MAX];
	const char *library;
	int status;

	if (argc > next + 1 || (argc > next && argv[next][0] == '-'))
		return refuse_word(self, argv[argc - 1]);
	status = find_library(&library);
	if (!status)
		status = preload_value(library, argv[next], system_libibverbs, value, sizeof(value));
	/* In quotes, because the loader replaces $LIB, not the shell. */
	for (size_t i = 0; !status && i < sizeof(launchers) / sizeof(launchers[0]); i++)
		print_launcher(&launchers[i], value, strchr(value, '$') ? "'" : "");
	return status;
}
