/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * All processes of a host create their two-way QPs at the same moment, and each needs pairs of
 * neighbouring numbers.
 */

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../side.h"
#include <harness/row.h>

#define PROCESSES 8
#define PAIRS 50

static struct {
	int ready;
	uint32_t number[PROCESSES][PAIRS];
} *shared;

static void await_all(int count)
{
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < count)
		usleep(200);
}

static void __attribute__((noreturn)) process(int index)
{
	struct ibv_qp *qps[PAIRS];
	struct side side;

	row_inherit("");
	side_open(&side, 0, -1, false);
	await_all(PROCESSES);
	for (int i = 0; i < PAIRS; i++) {
		side_create_qp(&side, 4);
		qps[i] = side.qp;
		shared->number[index][i] = side.own.qp_num;
	}
	await_all(2 * PROCESSES);
	for (int i = 0; i < PAIRS; i++)
		must_eq(ibv_destroy_qp(qps[i]), 0);
	side.qp = NULL;
	side_close(&side);
	exit(0);
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/*
 * A pair takes its visible number and the next one, so visible numbers are at least two apart, or
 * more if other programs took numbers in between.
 */
ROW("no two QPs that eight processes create at once share a number")
{
	uint32_t *numbers;
	int status;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	must(shared != MAP_FAILED);
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		must(pid >= 0);
		if (!pid)
			process(i);
	}
	while (wait(&status) > 0)
		must_eq(status, 0);
	numbers = &shared->number[0][0];
	qsort(numbers, PROCESSES * PAIRS, sizeof(*numbers), ascending);
	must(numbers[0]);
	for (int i = 1; i < PROCESSES * PAIRS; i++)
		must(numbers[i] - numbers[i - 1] >= 2);
}
