// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Completion queues: writing completions, noticing overruns, raising events. */
#include "cq.h"
#include "cq_arm.h"
#include "event.h"
#include "object.h"

#include <softhca/machine/mem.h>

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

/* The doorbell record is two words: consumer index, then what the CQ is armed for. */
#define ARM_WORD 4u

static int check_size(const struct hca_context *ctx, uint32_t cqe)
{
	return cqe < 1 || cqe > (uint32_t)ctx->device->machine->settings.max_cqe ? -EINVAL : 0;
}

/*
 * Makes all entries of a ring invalid whose first completion will have index @next: the owner bit of each is the opposite
 * of what its next index makes valid. The provider leaves zeroes, which would look like completions.
 */
static int preset(const struct hca_context *ctx, uint64_t buffer, uint32_t size, uint32_t next)
{
	size_t before = (size_t)(next & (size - 1)) * MLX4_CQE_SIZE;
	size_t bytes = (size_t)size * MLX4_CQE_SIZE;
	uint8_t this_turn = next & size ? MLX4_CQE_PRESET_ODD : MLX4_CQE_PRESET;
	uint8_t next_turn = next & size ? MLX4_CQE_PRESET : MLX4_CQE_PRESET_ODD;
	int error = mem_fill(ctx, buffer, next_turn, before);

	return error ? error : mem_fill(ctx, buffer + before, this_turn, bytes - before);
}

static int register_cq(struct hca_context *ctx, struct hca_cq *cq)
{
	if (numtab_add(&ctx->device->cqs, cq, &cq->cqn))
		return -ENOMEM;
	if (!object_add(ctx, &cq->obj, HCA_CQ))
		return 0;
	numtab_remove(&ctx->device->cqs, cq->cqn);
	return -ENOMEM;
}

int cq_create(struct hca_context *ctx, const struct cq_request *request, struct hca_cq **result)
{
	struct hca_cq *cq;
	int error = check_size(ctx, request->cqe);

	if (error)
		return error;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->user_handle = request->user_handle;
	cq->buffer = request->buffer;
	cq->doorbell = request->doorbell;
	cq->size = mlx4_pow2(request->cqe + 1);
	cq_arm_init(&cq->arm);
	error = preset(ctx, cq->buffer, cq->size, 0);
	if (!error)
		error = register_cq(ctx, cq);
	if (error) {
		free(cq);
		return error;
	}
	cq->channel = request->channel;
	if (cq->channel)
		channel_hold(cq->channel);
	*result = cq;
	return 0;
}

void cq_destroy(struct hca_cq *cq)
{
	if (cq->channel)
		channel_release(cq->channel);
	numtab_remove(&cq->obj.ctx->device->cqs, cq->cqn);
	object_remove(&cq->obj);
	free(cq);
}

static int outstanding(const struct hca_cq *cq, uint32_t *count)
{
	uint32_t consumer;

	if (mem_load32(cq->obj.ctx, cq->doorbell, &consumer))
		return -EFAULT;
	*count = (cq->producer - be32toh(consumer)) & 0xffffff;
	return 0;
}

static int write_entry(struct hca_cq *cq, const struct cqe *cqe)
{
	uint8_t bytes[MLX4_CQE_SIZE];
	uint64_t slot = cq->buffer + (uint64_t)(cq->producer & (cq->size - 1)) * MLX4_CQE_SIZE;

	mlx4_build_cqe(cqe, cq->producer & cq->size, bytes);
	return mem_write_cqe(cq->obj.ctx, slot, bytes);
}

/* What follows would overwrite completions that the program has not seen: the CQ is dead, and says so once. */
static void overrun(struct hca_cq *cq)
{
	cq->overrun = true;
	cq->obj.ctx->device->machine->overrun = true;
	event_cq(cq, IBV_EVENT_CQ_ERR);
}

void cq_post(struct hca_cq *cq, const struct cqe *cqe, bool solicited)
{
	uint32_t count;

	if (cq->overrun)
		return;
	if (outstanding(cq, &count) || count >= cq->size) {
		overrun(cq);
		return;
	}
	if (write_entry(cq, cqe))
		return; /* the program gave its own ring back; it will be reaped or destroy the CQ */
	if (solicited || cqe->syndrome)
		cq_arm_solicited(&cq->arm, cq->producer);
	cq->producer++;
	cq_check_armed(cq);
}

void cq_check_armed(struct hca_cq *cq)
{
	uint32_t word;

	if (!cq->channel)
		return;
	/* The entry first, then the question whether it is waited for: the program arms first and polls then. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (mem_load32(cq->obj.ctx, cq->doorbell + ARM_WORD, &word))
		return;
	if (cq_arm_fires(&cq->arm, be32toh(word), cq->producer))
		event_completion(cq);
}

/*
 * The provider moves what it has not polled from the old ring to the new one, up to a special entry, which takes an index
 * of its own.
 */
int cq_resize(struct hca_cq *cq, uint32_t cqe, uint64_t buffer)
{
	struct cqe last = { .opcode = MLX4_CQE_RESIZE };
	uint32_t size;
	uint32_t count;
	int error = check_size(cq->obj.ctx, cqe);

	if (error)
		return error;
	size = mlx4_pow2(cqe + 1);
	if (outstanding(cq, &count))
		return -EFAULT;
	if (cq->overrun || count >= cq->size || count + 1 >= size)
		return -EINVAL;
	error = preset(cq->obj.ctx, buffer, size, cq->producer + 1);
	if (!error)
		error = write_entry(cq, &last);
	if (error)
		return error;
	cq->producer++;
	cq->arm.notified++;
	cq->buffer = buffer;
	cq->size = size;
	return 0;
}
