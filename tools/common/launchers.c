/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table of launchers, and the search in it by name. */

#include "launchers.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const struct launcher launchers[] = {
	{ .title = "shell, batch script", .names = "", .command = "export",
	  .before = " ", .between = "=", .word = "", .of_mvapich2 = true },
	{ .title = "ssh", .names = " ssh rsh pdsh ", .command = "ssh HOST",
	  .before = " ", .between = "=", .word = " env", .remote = true, .quoted_twice = true,
	  .of_mvapich2 = true },
	{ .title = "Open MPI",
	  .names = " mpirun mpiexec orterun prterun mpirun.openmpi mpiexec.openmpi ",
	  .is_mpi = true, .command = "mpirun", .before = " -x ", .between = "=" },
	{ .title = "MPICH, Intel MPI, MVAPICH2 (Hydra)",
	  .names = " mpirun mpiexec mpiexec.hydra mpirun.mpich mpiexec.mpich ",
	  .is_mpi = true, .command = "mpiexec", .before = " -genv ", .between = " ",
	  .of_mvapich2 = true },
	/* mpirun_rsh composes a command line for ssh. */
	{ .title = "MVAPICH, MVAPICH2 (mpirun_rsh)", .names = " mpirun_rsh mpiexec.mpirun_rsh ",
	  .is_mpi = true, .command = "mpirun_rsh -np N HOST...", .before = " ", .between = "=",
	  .word = "", .remote = true, .of_mvapich2 = true },
	{ .title = "Platform MPI, HP-MPI", .names = " mpirun ", .is_mpi = true,
	  .command = "mpirun", .before = " -e ", .between = "=" },
	/* Not --export=ALL,NAME=VALUE: there srun keeps a value that is set already. */
	{ .title = "Slurm", .names = " srun ", .is_mpi = true, .command = "srun",
	  .before = " ", .between = "=", .word = " env", .of_mvapich2 = true },
};

const size_t launcher_count = sizeof(launchers) / sizeof(launchers[0]);

bool launcher_has_name(const struct launcher *launcher, const char *path)
{
	char word[NAME_MAX + 3];

	snprintf(word, sizeof(word), " %s ", basename(path));
	return strstr(launcher->names, word) != NULL;
}

const struct launcher *find_launcher(const char *path)
{
	for (size_t i = 0; i < launcher_count; i++) {
		if (launcher_has_name(&launchers[i], path))
			return &launchers[i];
	}
	return NULL;
}
