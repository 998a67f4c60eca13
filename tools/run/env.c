/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat env`: the lines to type so that the setting reaches every process of a parallel program, launcher by launcher. */
#include "quirks.h"
#include "elf/lib_folder.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/program/paths.h"

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

int command_env(const struct command *self, int argc, char **argv)
{
	struct path_candidates candidates;
	char setting[PATH_MAX];
	const char *library, *fault;
	const char *quote = "";
	struct elf_info elf;

	if (argc > 1)
		return refuse_word(self, argv[1]);
	paths_library(&candidates);
	library = paths_first(&candidates);
	if (!library || elf_info_read(library, &elf))
		return refuse(TOOL_EXIT_REFUSED, "libxrc-compat.so.1 is not there, or no library; try: xrc-compat doctor");
	fault = paths_preload_fault(library, &elf);
	elf_info_free(&elf);
	if (fault)
		return refuse(TOOL_EXIT_REFUSED, "%s: %s", library, fault);
	/* The setting with $LIB serves both word sizes. It is quoted, because the loader replaces $LIB, not the shell. */
	if (!loader_lib_setting(library, LOADER_LIB_OWN_BITS, setting, sizeof(setting))) {
		library = setting;
		quote = "'";
	}
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		print_launcher(&launchers[i], library, quote);
	return TOOL_EXIT_OK;
}
