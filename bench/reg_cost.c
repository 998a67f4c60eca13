/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The library's own cost of registering with a receive QP and unregistering. The kernel's commands
 * that open and destroy a handle are fakes that do nothing. The library is real, and asks twice
 * whether its table file is still open. Exit status 1 if the library takes more than LIMIT times as
 * long as two such system calls.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include <compat/domain.h>
#include <compat/rcv_qp.h>

#include "../tests/unit/common/provider.h"
#include "measure.h"

#define ROUNDS 2000
/* the best one counts: on a busy machine most contain another program's time slice */
#define REPEATS 200
/* 1.3 times was measured, and 2.3 with two more system calls. */
#define LIMIT 2.0

static void register_round(struct legacy_xrc_domain *domain, uint32_t number)
{
	need(!rcv_qp_register(domain, number) && !rcv_qp_unregister(domain, number), "reg, unreg");
}

static void two_calls(struct legacy_xrc_domain *domain, uint32_t number)
{
	struct stat status;

	(void)domain;
	(void)number;
	need(!fstat(STDERR_FILENO, &status) && !fstat(STDERR_FILENO, &status), "fstat");
}

static double best_ns(void (*round)(struct legacy_xrc_domain *, uint32_t),
		      struct legacy_xrc_domain *domain, uint32_t number)
{
	double best = 1e9;

	for (int repeat = 0; repeat < REPEATS; repeat++) {
		double start = nanoseconds(CLOCK_MONOTONIC), taken;

		for (int i = 0; i < ROUNDS; i++)
			round(domain, number);
		taken = (nanoseconds(CLOCK_MONOTONIC) - start) / ROUNDS;
		if (taken < best)
			best = taken;
	}
	return best;
}

static struct legacy_xrc_domain *open_domain(unsigned device, int fd)
{
	struct ibv_context *context = provider_open(device);
	struct legacy_xrc_domain *domain;

	if (!context) {
		puts("skipped: this machine has no libibverbs");
		exit(77);
	}
	need(!domain_open(context, fd, O_CREAT, &domain), "open");
	return domain;
}

/* Two opened devices on one domain: the first makes the QP, the second registers over and over. */
static double case_cost(void)
{
	struct legacy_xrc_domain *creator, *other;
	int fd = domain_file();
	uint32_t number;
	double cost;

	creator = open_domain(0, fd);
	other = open_domain(1, fd);
	close(fd);
	provider_next_qp = 0x800040;
	need(!rcv_qp_create(creator, &number), "create");
	cost = best_ns(register_round, other, number);
	need(!rcv_qp_unregister(creator, number) && !domain_close(other) && !domain_close(creator),
	     "unreg and close");
	return cost;
}

int main(void)
{
	double taken = case_cost();
	double calls = best_ns(two_calls, NULL, 0);

	printf("reg and unreg: the library takes %.0f ns; two system calls: %.0f ns; %.2f times (limit %.1f)\n",
	       taken, calls, taken / calls, LIMIT);
	return taken > LIMIT * calls;
}
