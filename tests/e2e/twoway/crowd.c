/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* All processes of a host create their two-way QPs at the same moment: each has to find neighbouring numbers. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "end.h"
#include "row.h"

#define PROCESSES 8
#define PAIRS 50

static struct {
	int ready;
	uint32_t number[PROCESSES][PAIRS];
} *shared;

static struct ibv_qp *create(struct end *end)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.qp_type = IBV_QPT_XRC,
		.xrc_domain = end->domain,
	};
	struct ibv_qp *qp = ibv_create_qp(end->pd, &attr);

	if (!qp)
		row_fail(__FILE__, __LINE__, "ibv_create_qp: %s", strerror(errno));
	return qp;
}

static void await_all(int count)
{
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < count)
		usleep(200);
}

static void process(int index)
{
	struct ibv_qp *qps[PAIRS];
	struct end end;

	row_inherit("");
	end_open(&end, 0, -1, false);
	await_all(PROCESSES);
	for (int i = 0; i < PAIRS; i++) {
		qps[i] = create(&end);
		shared->number[index][i] = qps[i]->qp_num;
	}
	await_all(2 * PROCESSES);
	for (int i = 0; i < PAIRS; i++)
		must_eq(ibv_destroy_qp(qps[i]), 0);
	end_close(&end);
	row_ok();
	exit(0);
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* A visible number and the next one are a pair's own, so the numbers are two apart at least. */
static void check_numbers(void)
{
	uint32_t *numbers = &shared->number[0][0];

	row_begin("no number is anybody else's");
	qsort(numbers, PROCESSES * PAIRS, sizeof(*numbers), ascending);
	for (int i = 1; i < PROCESSES * PAIRS; i++)
		must(numbers[i] - numbers[i - 1] >= 2);
	must(numbers[0]);
	row_ok();
}

int main(void)
{
	static char names[PROCESSES][32];
	bool good = true;
	int status;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED);
	for (int i = 0; i < PROCESSES; i++) {
		snprintf(names[i], sizeof(names[i]), "process %d", i);
		row_begin(names[i]);
		if (!fork())
			process(i);
	}
	while (wait(&status) > 0)
		good &= !status;
	if (good)
		check_numbers();
	return good ? 0 : 1;
}
