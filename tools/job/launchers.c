/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table of launchers, and the search in it by name. */
#include "launchers.h"
#include <tools/aside/aside.h>
#include <tools/text/memory.h>
#include <tools/text/text.h>

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
	  .is_mpi = true, .no_mvapich2 = true, .command = "mpirun", .before = " -x ",
	  .between = "=", .each_part = true, .appfile = " --app -app ",
	  .version = "*@(Open MPI|OpenRTE|PRRTE|prterun)*" },
	{ .title = "MPICH, Intel MPI, MVAPICH2 (Hydra)",
	  .names = " mpirun mpiexec mpiexec.hydra mpirun.mpich mpiexec.mpich ",
	  .is_mpi = true, .command = "mpiexec", .before = " -genv ", .between = " ",
	  .version = "*@(HYDRA|Intel?R? MPI)*" },
	/* mpirun_rsh composes a command line for ssh. */
	{ .title = "MVAPICH, MVAPICH2 (mpirun_rsh)", .names = " mpirun_rsh mpiexec.mpirun_rsh ",
	  .is_mpi = true, .command = "mpirun_rsh -np N HOST...", .before = " ", .between = "=",
	  .word = "", .expands = true, .remote = true },
	{ .title = "Platform MPI, HP-MPI", .names = " mpirun ", .is_mpi = true,
	  .no_mvapich2 = true, .command = "mpirun", .before = " -e ", .between = "=",
	  .expands = true, .appfile = " -f ", .version = "*@(Platform MPI|HP-MPI|HP MPI)*" },
	/* Not --export=ALL,NAME=VALUE: there srun keeps a value that is set already. */
	{ .title = "Slurm", .names = " srun ", .is_mpi = true, .command = "srun",
	  .before = " ", .between = "=", .word = " env" },
	{ 0 },
};

static bool has_name(const struct launcher *launcher, const char *path)
{
	return strstr(launcher->names, format_string(" %s ", basename(path))) != NULL;
}

const struct launcher *find_launcher(const char *path)
{
	const struct launcher *row = launchers;

	while (row->title && !has_name(row, path))
		row++;
	return row->title ? row : NULL;
}

/* All launchers that share a name have a version. */
const struct launcher *const *ask_launchers(const char *path)
{
	static const struct launcher *named[sizeof(launchers) / sizeof(launchers[0])];
	char *const words[] = { (char *)path, (char *)"--version", NULL };
	const struct aside program = { .words = words, .with_errors = true };
	struct aside_result result;
	size_t count = 0;
	char *text;

	for (const struct launcher *row = launchers; row->title; row++) {
		if (has_name(row, path))
			named[count++] = row;
	}
	text = count > 1 ? aside_output(&program, PATIENCE_MS, &result) : NULL;
	for (size_t i = 0; text && i < count; i++) {
		if (text_matches(text, named[i]->version)) {
			named[0] = named[i];
			count = 1;
		}
	}
	free(text);
	named[count] = NULL;
	return named;
}
