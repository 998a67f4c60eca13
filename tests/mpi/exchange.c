/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sends by all means of an MPI and compares every byte that arrives: ring, pairs, collectives,
 * one-sided. scripts/try-mpi compiles it with each MPI.
 *
 * usage: exchange [ROUNDS]        without ROUNDS, or with 0, until it is killed
 *
 * Rank 0 prints "connected" after the first round, and "verified N bytes on NP ranks" at the end.
 * It uses MPI-1, and MPI-2 where the MPI has it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <mpi.h>	/* Open MPI's uses ptrdiff_t, and includes nothing for it. */

#define SPARE 4096 /* mmap() maps no empty range */

/* The sizes go from empty over the eager ones to a rendezvous. */
static const int sizes[] = { 0, 1, 8, 1024, 9000, 70000, 1 << 20 };
#define SIZES ((int)(sizeof(sizes) / sizeof(*sizes)))

static int rank, ranks;
static double verified;

/*
 * Counts on all ranks alike, and the bytes follow from it: what an operation before has left in a
 * buffer does not pass. A put and the get beside it have one number, and bytes of other ranks.
 */
static uint32_t operation;

static uint8_t pattern(int from, int to, int round, int at)
{
	uint32_t mixed = (uint32_t)from * 2654435761u ^ (uint32_t)to * 40503u ^
			 (uint32_t)round * 2246822519u ^ (uint32_t)at * 3266489917u ^
			 operation * 668265263u;

	return (uint8_t)(mixed * 2654435761u >> 24);
}

static void fill(uint8_t *bytes, int size, int from, int to, int round)
{
	for (int i = 0; i < size; i++)
		bytes[i] = pattern(from, to, round, i);
}

static void compare(const char *part, const uint8_t *bytes, int size, int from, int to, int round)
{
	for (int i = 0; i < size; i++) {
		if (bytes[i] == pattern(from, to, round, i))
			continue;
		printf("rank %d: %s, round %d, %d bytes from %d to %d: byte %d is %d, not %d\n",
		       rank, part, round, size, from, to, i, bytes[i],
		       pattern(from, to, round, i));
		fflush(stdout);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	verified += size;
}

/* An MPI that keeps registrations must notice that the memory of the round before has gone. */
static uint8_t *take(size_t size)
{
	void *bytes = mmap(NULL, size + SPARE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (bytes == MAP_FAILED)
		MPI_Abort(MPI_COMM_WORLD, 2);
	return bytes;
}

static void give_back(uint8_t *bytes, size_t size)
{
	if (munmap(bytes, size + SPARE))
		MPI_Abort(MPI_COMM_WORLD, 2);
}

static void ring(int round, int size)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	uint8_t *out = take((size_t)size), *in = malloc((size_t)size + 1);
	MPI_Status status;

	operation++;
	fill(out, size, rank, right, round);
	MPI_Sendrecv(out, size, MPI_BYTE, right, 1, in, size, MPI_BYTE, left, 1, MPI_COMM_WORLD,
		     &status);
	compare("ring", in, size, left, rank, round);
	free(in);
	give_back(out, (size_t)size);
}

/* Every rank sends to every other one at the same time, so all connections begin at once. */
static void pairs(int round, int size)
{
	size_t all = (size_t)size * (size_t)ranks;
	uint8_t *out = malloc(all + 1), *in = take(all);
	MPI_Request *requests = calloc((size_t)ranks * 2, sizeof(*requests));

	operation++;
	for (int i = 0; i < ranks; i++) {
		fill(out + (size_t)i * (size_t)size, size, rank, i, round);
		MPI_Irecv(in + (size_t)i * (size_t)size, size, MPI_BYTE, i, 2, MPI_COMM_WORLD,
			  &requests[i]);
	}
	for (int i = 0; i < ranks; i++)
		MPI_Isend(out + (size_t)i * (size_t)size, size, MPI_BYTE, i, 2, MPI_COMM_WORLD,
			  &requests[ranks + i]);
	for (int i = 0; i < 2 * ranks; i++) {
		MPI_Status status;

		MPI_Wait(&requests[i], &status);
	}
	for (int i = 0; i < ranks; i++)
		compare("pairs", in + (size_t)i * (size_t)size, size, i, rank, round);
	free(requests);
	free(out);
	give_back(in, all);
}

static void all_to_all(int round, int size)
{
	size_t all = (size_t)size * (size_t)ranks;
	uint8_t *out = take(all), *in = take(all);

	operation++;
	for (int i = 0; i < ranks; i++)
		fill(out + (size_t)i * (size_t)size, size, rank, i, round);
	MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++)
		compare("all-to-all", in + (size_t)i * (size_t)size, size, i, rank, round);
	operation++;
	fill(out, size, rank, rank, round);
	MPI_Allgather(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++)
		compare("allgather", in + (size_t)i * (size_t)size, size, i, i, round);
	give_back(in, all);
	give_back(out, all);
}

static void from_root(int round, int size)
{
	int root = round % ranks;
	size_t all = (size_t)size * (size_t)ranks;
	uint8_t *whole = take(all), *own = malloc((size_t)size + 1);

	operation++;
	/* The other ranks begin with other bytes, which the broadcast must change. */
	fill(own, size, root, root, rank == root ? round : round + 1);
	MPI_Bcast(own, size, MPI_BYTE, root, MPI_COMM_WORLD);
	compare("broadcast", own, size, root, root, round);
	operation++;
	for (int i = 0; i < ranks; i++)
		fill(whole + (size_t)i * (size_t)size, size, root, i, round);
	MPI_Scatter(whole, size, MPI_BYTE, own, size, MPI_BYTE, root, MPI_COMM_WORLD);
	compare("scatter", own, size, root, rank, round);
	operation++;
	fill(own, size, rank, root, round);
	MPI_Gather(own, size, MPI_BYTE, whole, size, MPI_BYTE, root, MPI_COMM_WORLD);
	for (int i = 0; rank == root && i < ranks; i++)
		compare("gather", whole + (size_t)i * (size_t)size, size, i, root, round);
	free(own);
	give_back(whole, all);
}

static void reduce(int round, int size)
{
	int count = size / (int)sizeof(int);
	int *out = malloc((size_t)size + sizeof(int)), *in = malloc((size_t)size + sizeof(int));
	int first = (int)(++operation % 1000); /* the sum must fit */

	for (int i = 0; i < count; i++)
		out[i] = rank * (i + first);
	MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < count; i++) {
		if (in[i] == ranks * (ranks - 1) / 2 * (i + first))
			continue;
		printf("rank %d: allreduce, round %d, %d numbers: number %d is %d, not %d\n", rank,
		       round, count, i, in[i], ranks * (ranks - 1) / 2 * (i + first));
		fflush(stdout);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	verified += size;
	free(in);
	free(out);
}

#if MPI_VERSION >= 2
/* Each rank puts into its right neighbour, gets from its left one, and adds at rank 0. */
static void one_sided(int round, int size)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, one = 1, sum = 0;
	uint8_t *exposed, *own = malloc((size_t)size + 1), *got = malloc((size_t)size + 1);
	size_t bytes = 2 * (size_t)size + 1;
	MPI_Win window, counter;

	operation++;
	MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &exposed);
	fill(own, size, rank, right, round);
	fill(exposed + size, size, rank, rank, round);
	MPI_Win_create(exposed, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_create(&sum, sizeof(sum), sizeof(sum), MPI_INFO_NULL, MPI_COMM_WORLD, &counter);
	MPI_Win_fence(0, window);
	MPI_Put(own, size, MPI_BYTE, right, 0, size, MPI_BYTE, window);
	MPI_Get(got, size, MPI_BYTE, left, size, size, MPI_BYTE, window);
	MPI_Win_fence(0, window);
	compare("put", exposed, size, left, rank, round);
	compare("get", got, size, left, left, round);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, counter);
	MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, counter);
	MPI_Win_unlock(0, counter);
	MPI_Win_free(&counter);
	if (rank == 0 && sum != ranks) {
		printf("rank 0: accumulate, round %d: the sum is %d, not %d\n", round, sum, ranks);
		fflush(stdout);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Win_free(&window);
	MPI_Free_mem(exposed);
	free(got);
	free(own);
}
#else
static void one_sided(int round, int size)
{
	(void)round, (void)size;
}
#endif

static void one_round(int round)
{
	for (int i = 0; i < SIZES; i++) {
		/* 16 ranks would need a gigabyte for all pairs of the largest size. */
		int share = sizes[i] / ranks;

		ring(round, sizes[i]);
		pairs(round, share);
		all_to_all(round, share);
		from_root(round, sizes[i]);
		reduce(round, sizes[i]);
		one_sided(round, sizes[i]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	double everywhere = 0;
	int rounds;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	rounds = argc > 1 ? atoi(argv[1]) : 0;
	for (int round = 0; !rounds || round < rounds; round++) {
		one_round(round);
		if (rank == 0 && round == 0) {
			printf("connected\n");
			fflush(stdout);
		}
	}
	MPI_Reduce(&verified, &everywhere, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("verified %.0f bytes on %d ranks\n", everywhere, ranks);
	MPI_Finalize();
	return 0;
}
