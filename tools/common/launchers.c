/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The one table of launchers. */
#include "common.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const struct launcher launchers[] = {
	{ "shell, batch script", "", "export", " ", "=", "", false, false },
	{ "ssh", " ssh rsh pdsh ", "ssh HOST", " ", "=", " env", true, true },
	{ "Open MPI", " mpirun mpiexec orterun prterun mpirun.openmpi mpiexec.openmpi ",
	  "mpirun", " -x ", "=", NULL, false, false },
	{ "MPICH, Intel MPI, MVAPICH2 (Hydra)",
	  " mpirun mpiexec mpiexec.hydra mpirun.mpich mpiexec.mpich ", "mpiexec", " -genv ", " ",
	  NULL, false, false },
	/* mpirun_rsh composes a command line for ssh. */
	{ "MVAPICH, MVAPICH2 (mpirun_rsh)", " mpirun_rsh mpiexec.mpirun_rsh ",
	  "mpirun_rsh -np N HOST...", " ", "=", "", true, false },
	{ "Platform MPI, HP-MPI", " mpirun ", "mpirun", " -e ", "=", NULL, false, false },
	/* Not --export=ALL,NAME=VALUE: there srun keeps a value that is set already. */
	{ "Slurm", " srun ", "srun", " ", "=", " env", false, false },
};

const size_t launcher_count = sizeof(launchers) / sizeof(launchers[0]);

bool launcher_has_name(const struct launcher *launcher, const char *path)
{
	char word[NAME_MAX + 3];

	snprintf(word, sizeof(word), " %s ", basename(path));
	return strstr(launcher->names, word) != NULL;
}

bool is_launcher(const char *path)
{
	for (size_t i = 0; i < launcher_count; i++) {
		if (launcher_has_name(&launchers[i], path))
			return true;
	}
	return false;
}
