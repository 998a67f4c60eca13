/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the variables of MPI launchers; linked into the tracing library as well. */
#include "job.h"

#include <stddef.h>
#include <stdlib.h>

/* Slurm comes last: in a batch job it sets its variables for the ranks of other launchers, too. */
static const struct {
	const char *rank, *ranks;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "MPIRUN_RANK", "MPIRUN_NPROCS" },	/* mpirun_rsh of MVAPICH 1 */
	{ "PMI_RANK", "PMI_SIZE" },		/* MPICH, Intel MPI */
	{ "SLURM_PROCID", "SLURM_NTASKS" },
};

static int32_t number(const char *name)
{
	const char *text = getenv(name);

	return text && text[0] >= '0' && text[0] <= '9' ? atoi(text) : -1;
}

int32_t job_rank(int32_t *ranks)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		int32_t rank = number(launchers[i].rank);

		*ranks = number(launchers[i].ranks);
		if (rank >= 0)
			return rank;
	}
	*ranks = -1;
	return -1;
}
