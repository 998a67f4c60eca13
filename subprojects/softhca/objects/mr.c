/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Protection domains, memory regions and their keys. */
#include "objects.h"

#include <base/refuse.h>
#include <machine/mem.h>
#include <proto.h>

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>

#define REMOTE_CHANGES	 (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define NEEDS_WRITABLE	 (IBV_ACCESS_LOCAL_WRITE | REMOTE_CHANGES | IBV_ACCESS_MW_BIND)
#define SUPPORTED_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | \
	 IBV_ACCESS_HUGETLB)

/* Checks what ib_core checks. */
static int check(const struct mr_range *range)
{
	uint64_t end = range->start + range->length;

	if ((range->start & (SOFTHCA_PAGE - 1)) != (range->iova & (SOFTHCA_PAGE - 1)))
		return refuse(-EINVAL, "start and address within their pages");
	if (range->access & REMOTE_CHANGES && !(range->access & IBV_ACCESS_LOCAL_WRITE))
		return refuse(-EINVAL, "remote writing without local writing");
	/* Bits of the optional range are hints. Any other bit is an error. */
	if (range->access & ~(uint32_t)(SUPPORTED_ACCESS | IB_UVERBS_ACCESS_OPTIONAL_RANGE))
		return refuse(-EINVAL, "access flags");
	if (end < range->start || end + SOFTHCA_PAGE - 1 < end)
		return refuse(-EINVAL, "range wraps around");
	/* No page at all: the kernel refuses to pin nothing. */
	if (!range->length && !(range->start & (SOFTHCA_PAGE - 1)))
		return refuse(-EINVAL, "nothing to register");
	return 0;
}

/* Checks what the pinning of pages checks. */
static int check_pages(const struct hca_context *ctx, const struct mr_range *range)
{
	if (mem_check_range(ctx, range->start, range->length, range->access & NEEDS_WRITABLE))
		return refuse(-EFAULT, "memory that is not mapped or not writable");
	return 0;
}

static uint64_t pages(uint64_t start, uint64_t length)
{
	return (start + length + SOFTHCA_PAGE - 1) / SOFTHCA_PAGE - start / SOFTHCA_PAGE;
}

static void fill(struct hca_mr *mr, struct hca_pd *pd, const struct mr_range *range)
{
	mr->pd = pd;
	mr->access = range->access;
	mr->start = range->start;
	mr->length = range->length;
	mr->iova = range->iova;
	pd->obj.uses++;
	mr->obj.ctx->registered += pages(mr->start, mr->length);
}

static void release(struct hca_object *object)
{
	struct hca_mr *mr = container_of(object, struct hca_mr, obj);

	mr->pd->obj.uses--;
	object->ctx->registered -= pages(mr->start, mr->length);
}

int mr_create(struct hca_context *ctx, struct hca_pd *pd, const struct mr_range *range,
	      struct hca_mr **result)
{
	struct hca_mr *mr = object_new(ctx, HCA_MR, sizeof(*mr), release);

	if (!mr)
		return -ENOMEM;
	/* The index, then a changing byte. 0x100 ends a scatter list, so the index is above 1. */
	mr->key = mr->obj.number << 8 | ctx->device->key_variant++;
	fill(mr, pd, range);
	*result = mr;
	return 0;
}

struct hca_mr *mr_find(const struct hca_device *device, uint32_t key, const struct hca_pd *pd,
		       uint64_t address, uint64_t length, uint32_t access)
{
	struct hca_mr *mr = numtab_find(&device->numbers[HCA_MR], key >> 8);
	uint64_t base;

	if (!mr || mr->key != key || mr->pd != pd || (mr->access & access) != access)
		return NULL;
	base = mr->access & IBV_ACCESS_ZERO_BASED ? 0 : mr->iova;
	if (address < base || length > mr->length || address - base > mr->length - length)
		return NULL;
	return mr;
}

uint64_t mr_address(const struct hca_mr *mr, uint64_t address)
{
	return mr->start + (address - (mr->access & IBV_ACCESS_ZERO_BASED ? 0 : mr->iova));
}

/* ---- how much memory a process has registered, and how much it may ---- */

/* Counts in all contexts that the process has open, whatever the device, as the kernel does. */
static uint64_t registered_by(const struct hca_machine *machine, pid_t pid)
{
	uint64_t sum = 0;

	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(struct hca_context, ctx, &machine->device[i].contexts, link) {
			if (ctx->client.pid == pid)
				sum += ctx->registered;
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

/* Whether the process may register this range, too. @leaving no longer counts; or NULL. */
static int memlock_check(const struct hca_context *ctx, uint64_t start, uint64_t length,
			 const struct hca_mr *leaving)
{
	const struct hca_machine *machine = ctx->device->machine;
	struct rlimit limit;
	uint64_t others;

	if (!machine->settings.memlock || prlimit(ctx->client.pid, RLIMIT_MEMLOCK, NULL, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return 0;
	others = registered_by(machine, ctx->client.pid) -
		 (leaving ? pages(leaving->start, leaving->length) : 0);
	if (others + pages(start, length) <= limit.rlim_cur / SOFTHCA_PAGE ||
	    has_no_limit(ctx->client.pid))
		return 0;
	return refuse(-ENOMEM, "RLIMIT_MEMLOCK");
}

/* ---- commands ---- */

int cmd_alloc_pd(struct cmd *cmd)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct hca_pd *pd = object_new(cmd->ctx, HCA_PD, sizeof(*pd), NULL);

	if (!pd)
		return -ENOMEM;
	resp.pd_handle = pd->obj.handle;
	return cmd_introduce(cmd, &pd->obj, &resp, sizeof(resp), &pd->obj.number,
			     sizeof(pd->obj.number));
}

int cmd_reg_mr(struct cmd *cmd)
{
	const struct ib_uverbs_reg_mr *request = cmd->in;
	const struct mr_range range = { request->start, request->length, request->hca_va,
					request->access_flags };
	struct hca_pd *pd = object_find(cmd->ctx, HCA_PD, request->pd_handle);
	struct ib_uverbs_reg_mr_resp resp;
	struct hca_mr *mr;
	int err;

	if (!pd)
		return refuse(-EINVAL, "PD handle");
	err = check(&range);
	if (!err)
		err = check_pages(cmd->ctx, &range);
	if (!err)
		err = memlock_check(cmd->ctx, range.start, range.length, NULL);
	if (!err)
		err = mr_create(cmd->ctx, pd, &range, &mr);
	if (err)
		return err;
	resp.mr_handle = mr->obj.handle;
	resp.lkey = resp.rkey = mr->key;
	return cmd_introduce(cmd, &mr->obj, &resp, sizeof(resp), NULL, 0);
}

/* Members that the flags do not name stay as they are. */
static void merge(const struct hca_mr *mr, const struct ib_uverbs_rereg_mr *request,
		  struct mr_range *range)
{
	bool moved = request->flags & IBV_REREG_MR_CHANGE_TRANSLATION;

	range->start = moved ? request->start : mr->start;
	range->length = moved ? request->length : mr->length;
	range->iova = moved ? request->hca_va : mr->iova;
	range->access = request->flags & IBV_REREG_MR_CHANGE_ACCESS ? request->access_flags
								    : mr->access;
}

/*
 * Whether the change needs the pages again. mlx4_ib and mlx5_ib pin pages only if the region moves:
 * the program may have unmapped them since.
 */
static bool needs_pages(const struct hca_mr *mr, const struct ib_uverbs_rereg_mr *request,
			const struct mr_range *range)
{
	return request->flags & IBV_REREG_MR_CHANGE_TRANSLATION ||
	       (range->access & NEEDS_WRITABLE && !(mr->access & NEEDS_WRITABLE));
}

int cmd_rereg_mr(struct cmd *cmd)
{
	const struct ib_uverbs_rereg_mr *request = cmd->in;
	const uint32_t known = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
			       IBV_REREG_MR_CHANGE_ACCESS;
	struct ib_uverbs_rereg_mr_resp resp;
	struct hca_mr *mr = cmd->object;
	struct mr_range range;
	struct hca_pd *pd;
	int err;

	if (!request->flags || request->flags & ~known)
		return refuse(-EINVAL, "rereg flags");
	pd = mr->pd;
	if (request->flags & IBV_REREG_MR_CHANGE_PD)
		pd = object_find(cmd->ctx, HCA_PD, request->pd_handle);
	if (!pd)
		return refuse(-EINVAL, "PD handle");
	merge(mr, request, &range);
	err = check(&range);
	if (!err && needs_pages(mr, request, &range))
		err = check_pages(cmd->ctx, &range);
	if (!err && request->flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		err = memlock_check(cmd->ctx, range.start, range.length, mr);
	if (err)
		return err;
	release(&mr->obj);
	fill(mr, pd, &range);
	resp.lkey = resp.rkey = mr->key;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
