/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table of launchers, and the search in it by name. */
#include "launchers.h"
#include "aside.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 5000

const struct launcher launchers[] = {
	{ .title = "shell, batch script", .names = "", .command = "export",
	  .before = " ", .between = "=", .word = "" },
	{ .title = "ssh", .names = " ssh rsh pdsh ", .command = "ssh HOST",
	  .before = " ", .between = "=", .word = " env", .expands = true, .remote = true,
	  .quoted_twice = true },
	{ .title = "Open MPI",
	  .names = " mpirun mpiexec orterun prterun mpirun.openmpi mpiexec.openmpi ",
	  .is_mpi = true, .command = "mpirun", .before = " -x ", .between = "=", .each_part = true,
	  .appfile = " --app -app ", .version = "*@(Open MPI|OpenRTE|PRRTE|prterun)*" },
	{ .title = "MPICH, Intel MPI, MVAPICH2 (Hydra)",
	  .names = " mpirun mpiexec mpiexec.hydra mpirun.mpich mpiexec.mpich ",
	  .is_mpi = true, .command = "mpiexec", .before = " -genv ", .between = " ",
	  .version = "*@(HYDRA|Intel?R? MPI)*" },
	/* mpirun_rsh composes a command line for ssh. */
	{ .title = "MVAPICH, MVAPICH2 (mpirun_rsh)", .names = " mpirun_rsh mpiexec.mpirun_rsh ",
	  .is_mpi = true, .command = "mpirun_rsh -np N HOST...", .before = " ", .between = "=",
	  .word = "", .expands = true, .remote = true },
	{ .title = "Platform MPI, HP-MPI", .names = " mpirun ", .is_mpi = true,
	  .command = "mpirun", .before = " -e ", .between = "=", .expands = true,
	  .appfile = " -f ", .version = "*@(Platform MPI|HP-MPI|HP MPI)*" },
	/* Not --export=ALL,NAME=VALUE: there srun keeps a value that is set already. */
	{ .title = "Slurm", .names = " srun ", .is_mpi = true, .command = "srun",
	  .before = " ", .between = "=", .word = " env" },
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

const struct launcher *ask_launcher(const char *path)
{
	char *const words[] = { (char *)path, (char *)"--version", NULL };
	const struct aside program = { .words = words, .with_errors = true };
	const struct launcher *first = find_launcher(path), *told = NULL, *other = NULL;
	struct aside_result result;
	char *text = first->version ? aside_output(&program, PATIENCE_MS, &result) : NULL;

	for (const struct launcher *row = first; row < launchers + launcher_count; row++) {
		if (!launcher_has_name(row, path))
			continue;
		if (text && row->version && !fnmatch(row->version, text, FNM_EXTMATCH))
			told = row;
		other = row != first ? row : other;
	}
	free(text);
	return told || other ? told : first;
}
