/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the variables of MPI launchers. */
#include "job.h"

#include <stddef.h>
#include <stdlib.h>

/* Slurm comes last: in a batch job it sets its variables for the ranks of other launchers, too. */
static const struct {
	const char *rank, *ranks;
} variables[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "MPIRUN_RANK", "MPIRUN_NPROCS" },	/* mpirun_rsh of MVAPICH 1 */
	{ "PMI_RANK", "PMI_SIZE" },		/* MPICH, Intel MPI */
	{ "MPI_RANKID", "MPI_NRANKS" },		/* HP-MPI, Platform MPI */
	{ "PMI_ID", "MPIRUN_NPROCS" },		/* mpirun_rsh of MVAPICH2 1.7, as mpispawn sets it */
	{ "PMIX_RANK", "SLURM_NTASKS" },	/* prterun; srun --mpi=pmix */
	{ "SLURM_PROCID", "SLURM_NTASKS" },
};

static int number(const char *name)
{
	const char *text = getenv(name);

	return text && text[0] >= '0' && text[0] <= '9' ? atoi(text) : -1;
}

int job_rank(int *ranks)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		int rank = number(variables[i].rank);

		*ranks = number(variables[i].ranks);
		if (rank >= 0)
			return rank;
	}
	*ranks = -1;
	return -1;
}
