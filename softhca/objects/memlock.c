/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* How much memory a process has registered, and how much it may. */
#include "objects.h"

#include <softhca/base/refuse.h>

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>

#define PAGE 4096ull

static uint64_t pages(uint64_t start, uint64_t length)
{
	return (start + length + PAGE - 1) / PAGE - start / PAGE;
}

static uint64_t registered(const struct hca_context *ctx, const struct hca_mr *leaving)
{
	uint64_t sum = 0;

	list_for_each(struct hca_mr, mr, &ctx->objects[HCA_MR], obj.link) {
		if (mr != leaving)
			sum += pages(mr->start, mr->length);
	}
	return sum;
}

/* As the kernel: in all contexts that the process has open, whatever the device. */
static uint64_t registered_by(const struct hca_machine *machine, pid_t pid,
			      const struct hca_mr *leaving)
{
	uint64_t sum = 0;

	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(struct hca_context, ctx, &machine->device[i].contexts, link) {
			if (ctx->client.pid == pid)
				sum += registered(ctx, leaving);
		}
	}
	return sum;
}

/* CAP_IPC_LOCK; root has it outside most containers. */
static bool has_no_limit(pid_t pid)
{
	unsigned long long capabilities = 0;
	char path[32], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			break;
	}
	if (file)
		fclose(file);
	return capabilities & 1ull << CAP_IPC_LOCK;
}

int memlock_check(const struct hca_context *ctx, uint64_t start, uint64_t length,
		  const struct hca_mr *leaving)
{
	const struct hca_machine *machine = ctx->device->machine;
	struct rlimit limit;

	if (!machine->settings.memlock || prlimit(ctx->client.pid, RLIMIT_MEMLOCK, NULL, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return 0;
	if (registered_by(machine, ctx->client.pid, leaving) + pages(start, length) <=
		    limit.rlim_cur / PAGE ||
	    has_no_limit(ctx->client.pid))
		return 0;
	return refuse(-ENOMEM, "RLIMIT_MEMLOCK");
}
