// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* `xrc-compat env`: the lines to type so that the setting reaches every process of a parallel program, launcher by launcher. */
#include "include/loader_lib.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/paths.h"

#include <stdio.h>
#include <string.h>

struct launcher {
	const char *name;
	const char *before; /* the line is before, setting, after */
	const char *after;
};

static const struct launcher launchers[] = {
	{ "shell, ssh, batch script", "export LD_PRELOAD=", "${LD_PRELOAD:+:$LD_PRELOAD}" },
	{ "Open MPI", "mpirun -x LD_PRELOAD=", " PROGRAM" },
	{ "MPICH, Intel MPI, MVAPICH2 (Hydra)", "mpiexec -genv LD_PRELOAD ", " PROGRAM" },
	{ "MVAPICH, MVAPICH2 (mpirun_rsh)", "mpirun_rsh -np N HOST... LD_PRELOAD=", " PROGRAM" },
	{ "Platform MPI, HP-MPI", "mpirun -e LD_PRELOAD=", " PROGRAM" },
	{ "Slurm", "srun --export=ALL,LD_PRELOAD=", " PROGRAM" },
};

static int usage(int status)
{
	advise("usage: xrc-compat env");
	return status;
}

int command_env(int argc, char **argv)
{
	struct path_candidates candidates;
	char setting[PATH_MAX];
	const char *library;
	const char *quote = "";

	if (argc > 1)
		return usage(!strcmp(argv[1], "--help") ? TOOL_EXIT_OK : TOOL_EXIT_REFUSED);
	paths_library(&candidates);
	library = paths_first(&candidates);
	if (!library)
		return refuse(TOOL_EXIT_REFUSED, "libxrc-compat.so.1 is not there; try: xrc-compat doctor");
	/* Serves both word sizes; the shell has to leave $LIB to the loader. */
	if (!loader_lib_setting(library, LOADER_LIB_OWN_BITS, setting, sizeof(setting))) {
		library = setting;
		quote = "'";
	}
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		printf("# %s\n%s%s%s%s%s\n", launchers[i].name, launchers[i].before, quote, library, quote, launchers[i].after);
	return TOOL_EXIT_OK;
}
