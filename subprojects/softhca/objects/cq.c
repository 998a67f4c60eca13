/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Completion queues: writing completions, noticing overruns, raising events. */
#include "objects.h"

#include <base/kernel.h>
#include <base/refuse.h>
#include <machine/mem.h>

#include <endian.h>
#include <errno.h>

/* The doorbell record is two words: consumer index, then what the CQ is armed for. */
#define ARM_WORD     4u
#define RECORD_BYTES 8u

static int check_size(const struct hca_context *ctx, uint32_t cqe)
{
	return cqe < 1 || cqe > (uint32_t)ctx->device->machine->settings.limits.max_cqe
		       ? refuse(-EINVAL, "number of CQ entries")
		       : 0;
}

/* Makes all entries of a ring invalid whose first completion will have index @next. */
static int preset(const struct hca_context *ctx, const struct cq_place *place, uint32_t size,
		  uint32_t next)
{
	const struct model *model = ctx->device->model;
	size_t before = (size_t)(next & (size - 1)) * place->entry;
	size_t bytes = (size_t)size * place->entry;
	uint8_t this_turn = next & size ? model->preset_odd : model->preset_even;
	uint8_t next_turn = next & size ? model->preset_even : model->preset_odd;
	int err;

	if (!model->preset)
		return 0;
	err = mem_fill(ctx, place->buffer, next_turn, before);
	return err ? err
		   : mem_fill(ctx, place_at(place->buffer, before), this_turn, bytes - before);
}

/* All CQs share one doorbell register, so it does not tell whether this CQ was ever armed. */
static int disarm(const struct hca_context *ctx, const struct cq_place *place)
{
	uint32_t word = htobe32(ctx->device->model->arm_never);

	return word ? mem_write(ctx, place_at(place->record, ARM_WORD), &word, sizeof(word)) : 0;
}

static void release(struct hca_object *object)
{
	struct hca_cq *cq = container_of(object, struct hca_cq, obj);

	if (cq->channel)
		channel_release(cq->channel);
}

int cq_create(struct hca_context *ctx, const struct cq_request *request, struct hca_cq **result)
{
	const uint32_t size = model_pow2(request->cqe + 1);
	struct cq_place place = request->place;
	struct hca_cq *cq;
	int err = check_size(ctx, request->cqe);

	if (err)
		return err;
	arena_find(ctx, &place.buffer, (uint64_t)size * place.entry);
	arena_find(ctx, &place.record, RECORD_BYTES);
	err = preset(ctx, &place, size, 0);
	if (!err)
		err = disarm(ctx, &place);
	if (err)
		return err;
	cq = object_new(ctx, HCA_CQ, sizeof(*cq), release);
	if (!cq)
		return -ENOMEM;
	cq->user_handle = request->user_handle;
	cq->place = place;
	cq->stamped = request->stamped || ctx->device->model->stamps_all;
	cq->size = size;
	cq_arm_init(&cq->arm);
	cq->channel = request->channel;
	if (cq->channel)
		cq->channel->cqs++;
	*result = cq;
	return 0;
}

/* Completions that the program has not polled, or had not when the record was last read. */
static uint32_t outstanding(const struct hca_cq *cq)
{
	return (cq->producer - cq->consumer) & 0xffffff;
}

static int read_consumer(struct hca_cq *cq)
{
	uint32_t word;

	if (mem_load32(cq->obj.ctx, cq->place.record, &word))
		return -EFAULT;
	cq->consumer = be32toh(word);
	return 0;
}

/* The record is read only when the ring looks full, for reading it may take a system call. */
static bool has_room(struct hca_cq *cq)
{
	return outstanding(cq) < cq->size || (!read_consumer(cq) && outstanding(cq) < cq->size);
}

/* The time of this turn by the adapter's clock; never 0, which means no time stamp. */
static uint64_t ticks(const struct model *model, uint64_t now)
{
	uint64_t value = now / 1000000 * model->clock_khz +
			 now % 1000000 * model->clock_khz / 1000000;

	value &= model->timestamp_mask;
	return value ? value : 1;
}

static int write_entry(struct hca_cq *cq, const struct cqe *cqe)
{
	const struct hca_context *ctx = cq->obj.ctx;
	const struct cqe_format format = { cq->place.entry, cq->producer & cq->size,
					   ctx->cqe_version };
	uint8_t bytes[CQE_MAX_BYTES];
	struct cqe stamped;
	struct place slot = place_at(cq->place.buffer,
				     (uint64_t)(cq->producer & (cq->size - 1)) * format.bytes);

	if (cq->stamped) {
		stamped = *cqe;
		stamped.timestamp = ticks(ctx->device->model, ctx->device->machine->now);
		cqe = &stamped;
	}
	ctx->device->model->build_cqe(cqe, &format, bytes);
	return mem_write_cqe(ctx, slot, bytes, format.bytes);
}

/* More would overwrite completions that were not polled: the CQ is dead, and says so once. */
static void overrun(struct hca_cq *cq)
{
	cq->overrun = true;
	cq->obj.ctx->device->machine->overrun = true;
	event_cq(cq, IBV_EVENT_CQ_ERR);
}

static void read_arm(struct hca_cq *cq)
{
	const struct hca_context *ctx = cq->obj.ctx;
	uint32_t word;

	if (!mem_load32(ctx, place_at(cq->place.record, ARM_WORD), &word))
		cq->armed = model_arm(ctx->device->model, word);
}

static void raise_if_due(struct hca_cq *cq)
{
	if (cq_arm_fires(&cq->arm, cq->armed, cq->producer))
		event_completion(cq);
}

/* The entry is written before the arm word is read: programs arm first, and poll then. */
static void notify(struct hca_cq *cq)
{
	const struct hca_context *ctx = cq->obj.ctx;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (bell_rings(ctx, &ctx->device->model->arm_bell))
		read_arm(cq);
	raise_if_due(cq);
}

void cq_post(struct hca_cq *cq, const struct cqe *cqe, bool solicited)
{
	if (cq->overrun)
		return;
	if (!has_room(cq)) {
		overrun(cq);
		return;
	}
	/* Fails if the program has unmapped the ring, and so ends soon or destroys the CQ. */
	if (write_entry(cq, cqe))
		return;
	if (solicited || cqe->syndrome)
		cq_arm_solicited(&cq->arm, cq->producer);
	cq->producer++;
	if (cq->channel)
		notify(cq);
}

void cq_check_armed(struct hca_cq *cq)
{
	if (!cq->channel)
		return;
	read_arm(cq);
	raise_if_due(cq);
}

/* The provider moves what it has not polled, up to a special entry: the next of the old ring. */
static int resize(struct hca_cq *cq, uint32_t cqe, struct cq_place *place)
{
	struct cqe last = { .opcode = cq->obj.ctx->device->model->resize_opcode };
	uint32_t size;
	int err = check_size(cq->obj.ctx, cqe);

	if (err)
		return err;
	size = model_pow2(cqe + 1);
	if (read_consumer(cq))
		return refuse(-EFAULT, "doorbell record");
	if (cq->overrun || outstanding(cq) >= cq->size || outstanding(cq) + 1 >= size)
		return refuse(-EINVAL, "CQ overrun, or more in it than fits");
	arena_find(cq->obj.ctx, &place->buffer, (uint64_t)size * place->entry);
	err = preset(cq->obj.ctx, place, size, cq->producer + 1);
	if (!err)
		err = write_entry(cq, &last);
	if (err)
		return err;
	cq_check_armed(cq);
	cq_arm_resized(&cq->arm, cq->producer - outstanding(cq));
	cq->producer++;
	cq->place.buffer = place->buffer;
	cq->place.entry = place->entry;
	cq->size = size;
	return 0;
}

/* ---- when a completion queue that was armed raises an event ---- */

void cq_arm_init(struct cq_arm *arm)
{
	arm->notified = 0;
	arm->solicited = 0;
	arm->fired = -1;
}

void cq_arm_solicited(struct cq_arm *arm, uint32_t index)
{
	arm->solicited = index + 1;
}

void cq_arm_resized(struct cq_arm *arm, uint32_t consumer)
{
	if ((int32_t)(consumer - arm->notified) > 0)
		arm->notified = consumer;
	arm->notified++;
	if ((int32_t)(arm->solicited - consumer) > 0)
		arm->solicited++;
}

/* a - b of 24-bit counters. */
static int32_t ahead24(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

bool cq_arm_fires(struct cq_arm *arm, struct arm_request request, uint32_t producer)
{
	uint32_t last = request.kind == ARM_SOLICITED ? arm->solicited : producer;

	if (request.kind == ARM_NONE)
		return false;
	/* One event per sequence number: fetching the event changes the number. */
	if (arm->fired == request.sequence)
		return false;
	/* Completions that were polled before the arming, or told by an event, are no news. */
	if (ahead24(last, request.consumer) <= 0 || (int32_t)(last - arm->notified) <= 0)
		return false;
	arm->notified = producer;
	arm->fired = request.sequence;
	return true;
}

/* ---- commands ---- */

/* The response of the first command is the beginning of that of the second. */
static int create(struct cmd *cmd, uint32_t vector, int32_t channel_fd, struct cq_request *request)
{
	struct ib_uverbs_ex_create_cq_resp resp = { .response_length = sizeof(resp) };
	struct hca_cq *cq;
	int err;

	if (vector >= OBJECTS_COMP_VECTORS)
		return refuse(-EINVAL, "completion vector");
	err = cmd->ctx->device->model->take_cq(cmd->driver_in, cmd->driver_in_size,
					       &request->place);
	if (err)
		return err;
	if (channel_fd >= 0) {
		request->channel = channel_find(cmd->ctx, cmd->fd);
		if (!request->channel)
			return refuse(-EBADF, "completion channel");
	}
	err = cq_create(cmd->ctx, request, &cq);
	if (err)
		return err;
	resp.base.cq_handle = cq->obj.handle;
	resp.base.cqe = cq->size - 1;
	return cmd_introduce(cmd, &cq->obj, &resp, sizeof(resp), &cq->obj.number,
			     sizeof(cq->obj.number));
}

int cmd_create_cq(struct cmd *cmd)
{
	const struct ib_uverbs_create_cq *in = cmd->in;
	struct cq_request request = { .user_handle = in->user_handle, .cqe = in->cqe };

	return create(cmd, in->comp_vector, in->comp_channel, &request);
}

int cmd_ex_create_cq(struct cmd *cmd)
{
	const struct ib_uverbs_ex_create_cq *in = cmd->in;
	struct cq_request request = {
		.user_handle = in->user_handle, .cqe = in->cqe,
		.stamped = in->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	};

	if (in->comp_mask || in->reserved)
		return refuse(-EINVAL, "comp_mask or reserved");
	/* An overrun is always an error. */
	if (in->flags & ~(uint32_t)IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return refuse(-EOPNOTSUPP, "CQ flags");
	return create(cmd, in->comp_vector, in->comp_channel, &request);
}

int cmd_resize_cq(struct cmd *cmd)
{
	const struct ib_uverbs_resize_cq *request = cmd->in;
	struct ib_uverbs_resize_cq_resp resp = { 0 };
	struct hca_cq *cq = cmd->object;
	struct cq_place place;
	int err;

	err = cmd->ctx->device->model->take_resize(cmd->driver_in, cmd->driver_in_size, &place);
	if (!err)
		err = resize(cq, request->cqe, &place);
	if (err)
		return err;
	resp.cqe = cq->size - 1;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

int cmd_destroy_cq(struct cmd *cmd)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct hca_cq *cq = cmd->object;

	resp.comp_events_reported = event_settle_completions(cq);
	resp.async_events_reported =
		event_settle_async(cmd->ctx, cq->user_handle, cq->async_events);
	object_destroy(&cq->obj);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
