/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Memory that may not be locked may not be registered. usage: memlock refused|allowed */
#include "rig.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE   4096u
#define LOCKED (20 * PAGE) /* RIG_BUFFER and four pages more */

/* Limits do not hold for a process with CAP_IPC_LOCK. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	NEED(!syscall(SYS_capget, &header, data));
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	NEED(!syscall(SYS_capset, &header, data));
}

static struct ibv_mr *reg(struct host *host, uint8_t *at, size_t length)
{
	errno = 0;
	return ibv_reg_mr(host->pd, at, length, IBV_ACCESS_LOCAL_WRITE);
}

/* The limit holds for all devices of the process together. It counts pages. */
CASE(refused)
{
	struct host *one = rig_host(0);
	uint8_t *memory = rig_map(LOCKED);
	struct ibv_mr *mr;

	CHECK(!reg(one, memory, 5 * PAGE) && errno == ENOMEM);
	CHECK(!reg(one, memory + PAGE - 1, 3 * PAGE + 2) && errno == ENOMEM);
	mr = MADE(reg(one, memory, 4 * PAGE));
	CHECK(!reg(one, memory, 1) && errno == ENOMEM);
	/* A region that is registered anew does not count twice. */
	CHECK(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory + PAGE, 3 * PAGE, 0));
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory, 5 * PAGE, 0));
	CHECK(!ibv_dereg_mr(mr) && !ibv_dereg_mr(one->mr));
	rig_host(1); /* registers RIG_BUFFER */
	CHECK(!reg(one, memory, 5 * PAGE) && errno == ENOMEM);
	return !ibv_dereg_mr(MADE(reg(one, memory, 4 * PAGE)));
}

CASE(allowed)
{
	return reg(rig_host(0), rig_map(LOCKED), LOCKED);
}

int main(int argc, char **argv)
{
	const struct rlimit limit = { LOCKED, LOCKED };

	NEED(argc == 2 && !setrlimit(RLIMIT_MEMLOCK, &limit));
	drop_capabilities();
	return rig_run(argc, argv);
}
