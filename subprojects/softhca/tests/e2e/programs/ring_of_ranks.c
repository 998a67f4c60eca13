/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An MPI program for any mpicc: each rank passes messages of all sizes around the ring, and checks
 * every byte.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define LARGEST (1 << 20)

static unsigned char out[LARGEST], in[LARGEST], want[LARGEST];

static int pass(int rank, int ranks, int length)
{
	int before = (rank + ranks - 1) % ranks;

	memset(out, rank * 16 + length % 13 + 1, (size_t)length);
	memset(want, before * 16 + length % 13 + 1, (size_t)length);
	memset(in, 0, sizeof(in));
	MPI_Sendrecv(out, length, MPI_BYTE, (rank + 1) % ranks, 0, in, length, MPI_BYTE, before, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return memcmp(in, want, LARGEST) != 0;
}

int main(int argc, char **argv)
{
	int rank, ranks, wrong = 0, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int length = 1; length <= LARGEST; length *= 4)
		wrong += pass(rank, ranks, length);
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d ranks, %d wrong\n", ranks, all);
	MPI_Finalize();
	return all != 0;
}
