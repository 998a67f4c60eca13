/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What registering with a receive QP and unregistering costs on top of ibv_open_qp and ibv_destroy_qp, which cost nothing
 * here: the provider is a fake, everything above it is real. Exit status 1 when a limit is exceeded.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <compat/domain/domain.h>
#include <compat/rcv_qp/rcv_qp.h>
#include <modern/modern.h>
#include <modern/table.h>

#define ROUNDS 2000
#define REPEATS 200	/* of which the best counts: on a busy machine most contain somebody else's time slice */
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

static struct ibv_qp *fake_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	(void)context;
	return new_qp(next_qp++, attr->qp_context);
}

static struct ibv_qp *fake_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	(void)context;
	if (attr->qp_num > 0xffffff) {	/* the library asks so whether the kernel shares QPs */
		errno = EINVAL;
		return NULL;
	}
	return new_qp(attr->qp_num, attr->qp_context);
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
	adapter.sz = sizeof(adapter);
	adapter.open_xrcd = fake_open_xrcd;
	adapter.close_xrcd = fake_close_xrcd;
	adapter.create_qp_ex = fake_create_qp_ex;
	adapter.open_qp = fake_open_qp;
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
	struct ibv_qp_open_attr attr = { .qp_num = number };

	(void)domain;
	modern_table.destroy_qp(fake_open_qp(&adapter.context, &attr));
}

static void register_round(struct legacy_xrc_domain *domain, uint32_t number)
{
	if (rcv_qp_register(domain, number) || rcv_qp_unregister(domain, number))
		abort();
}

static double best_ns(void (*round)(struct legacy_xrc_domain *, uint32_t), struct legacy_xrc_domain *domain,
		      uint32_t number)
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
static double case_cost(int shares)
{
	static struct verbs_context devices[2][2];
	struct verbs_context *pair = devices[shares];
	struct legacy_xrc_domain *owner, *other;
	int fd = domain_file();
	uint32_t number;
	double cost;

	pair[0] = pair[1] = adapter;
	if (!shares)
		pair[0].open_qp = pair[1].open_qp = NULL;
	owner = open_domain(&pair[0].context, fd);
	other = open_domain(&pair[1].context, fd);
	close(fd);
	if (rcv_qp_create(owner, &number))
		abort();
	cost = best_ns(register_round, other, number);
	if (rcv_qp_unregister(owner, number) || domain_close(other) || domain_close(owner))
		abort();
	return cost;
}

/* A process that makes a QP, says its number and stays. */
static pid_t start_owner(struct ibv_context *context, int fd, uint32_t *number)
{
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		abort();
	pid = fork();
	if (!pid) {
		if (rcv_qp_create(open_domain(context, fd), number) || write(ready[1], number, sizeof(*number)) < 0)
			abort();
		for (;;)
			pause();
	}
	if (pid < 0 || read(ready[0], number, sizeof(*number)) != sizeof(*number))
		abort();
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* The table alone carries it, and its owner is another process. */
static double remote_cost(void)
{
	static struct verbs_context opened;
	struct legacy_xrc_domain *domain;
	int fd = domain_file();
	uint32_t number;
	double cost;
	pid_t owner;

	opened = adapter;
	opened.open_qp = NULL;
	owner = start_owner(&opened.context, fd, &number);
	domain = open_domain(&opened.context, fd);
	close(fd);
	cost = best_ns(register_round, domain, number);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	if (domain_close(domain))
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
	failed |= say("reg + unreg where the kernel shares QPs", case_cost(1), best_ns(plain_round, NULL, FIRST_QP), 1000);
	failed |= say("reg + unreg where the table alone carries them", case_cost(0), 0, 500);
	failed |= say("the same, the owner being another process", remote_cost(), 0, 500);
	return failed;
}
