/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The library's own cost of registering with a receive QP and unregistering. The functions of
 * libibverbs that open and destroy a handle are fakes that cost nothing. The library is real. Exit
 * status 1 if a limit is exceeded.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <modern/modern.h>
#include <modern/table.h>

#define ROUNDS 2000
/* the best one counts: on a busy machine most contain another program's time slice */
#define REPEATS 200
#define FIRST_QP 0x800040u

static struct ibv_device device = { .name = "bench" };
static struct verbs_context adapter;
static struct ibv_xrcd xrcd;
static uint32_t next_qp = FIRST_QP;

static struct ibv_xrcd *fake_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	(void)context;
	(void)attr;
	return &xrcd;
}

static int fake_close_xrcd(struct ibv_xrcd *closed)
{
	(void)closed;
	return 0;
}

static struct ibv_qp *new_qp(uint32_t number, void *qp_context)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		abort();
	qp->qp_num = number;
	qp->qp_context = qp_context;
	return qp;
}

static struct ibv_qp *fake_create_qp_ex(struct ibv_context *context,
					struct ibv_qp_init_attr_ex *attr)
{
	(void)context;
	return new_qp(next_qp++, attr->qp_context);
}

/* As libibverbs does it, but without a kernel. */
static int fake_cmd_open_qp(struct ibv_context *context, void *block, int size,
			    struct ibv_qp_open_attr *attr, void *command, size_t command_size,
			    void *response, size_t response_size)
{
	struct ibv_qp *qp = block;

	(void)size;
	(void)command;
	(void)command_size;
	(void)response;
	(void)response_size;
	qp->context = context;
	qp->qp_num = attr->qp_num;
	qp->qp_context = attr->qp_context;
	return 0;
}

static int fake_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

static int fake_destroy_qp(struct ibv_qp *qp)
{
	free(qp);
	return 0;
}

static void make_adapter(void)
{
	if (modern_load())
		exit(77);	/* no libibverbs on this machine */
	modern_table.destroy_qp = fake_destroy_qp;
	modern_table.cmd_open_qp = fake_cmd_open_qp;
	modern_table.cmd_destroy_qp = fake_cmd_destroy_qp;
	adapter.sz = sizeof(adapter);
	adapter.open_xrcd = fake_open_xrcd;
	adapter.close_xrcd = fake_close_xrcd;
	adapter.create_qp_ex = fake_create_qp_ex;
	adapter.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	adapter.context.device = &device;
	xrcd.context = &adapter.context;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void plain_round(struct legacy_xrc_domain *domain, uint32_t number)
{
	(void)domain;
	modern_table.destroy_qp(new_qp(number, NULL));
}

static void register_round(struct legacy_xrc_domain *domain, uint32_t number)
{
	if (rcv_qp_register(domain, number) || rcv_qp_unregister(domain, number))
		abort();
}

static double best_ns(void (*round)(struct legacy_xrc_domain *, uint32_t),
		      struct legacy_xrc_domain *domain, uint32_t number)
{
	double best = 1e9;

	for (int repeat = 0; repeat < REPEATS; repeat++) {
		double start = now(), taken;

		for (int i = 0; i < ROUNDS; i++)
			round(domain, number);
		taken = (now() - start) / ROUNDS;
		if (taken < best)
			best = taken;
	}
	return best;
}

static struct legacy_xrc_domain *open_domain(struct ibv_context *context, int fd)
{
	struct legacy_xrc_domain *domain;

	if (domain_open(context, fd, O_CREAT, &domain))
		abort();
	return domain;
}

static int domain_file(void)
{
	char path[] = "/tmp/xrc-compat-bench-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		exit(77);
	unlink(path);
	return fd;
}

/* Two opened devices on one domain: the first makes the QP, the second registers over and over. */
static double case_cost(void)
{
	static struct verbs_context pair[2];
	struct legacy_xrc_domain *creator, *other;
	int fd = domain_file();
	uint32_t number;
	double cost;

	pair[0] = pair[1] = adapter;
	creator = open_domain(&pair[0].context, fd);
	other = open_domain(&pair[1].context, fd);
	close(fd);
	if (rcv_qp_create(creator, &number))
		abort();
	cost = best_ns(register_round, other, number);
	if (rcv_qp_unregister(creator, number) || domain_close(other) || domain_close(creator))
		abort();
	return cost;
}

static int say(const char *what, double cost, double base, double limit)
{
	printf("%-58s%8.0f ns%8.0f ns%8.0f\n", what, cost, cost - base, limit);
	return cost - base > limit;
}

int main(void)
{
	int failed = 0;

	make_adapter();
	printf("%-58s%11s%11s%8s\n", "", "all", "added", "limit");
	failed |= say("reg + unreg", case_cost(), best_ns(plain_round, NULL, FIRST_QP), 300);
	return failed;
}
