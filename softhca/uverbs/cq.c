/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about completion channels and completion queues. */
#include "cmd.h"

#include <softhca/base/refuse.h>
#include <softhca/objects/cq.h>
#include <softhca/objects/event.h>
#include <softhca/objects/object.h>

#include <errno.h>
#include <unistd.h>

#define COMP_VECTORS 4

int cmd_create_comp_channel(struct cmd *cmd)
{
	/*
	 * The client's preload puts the descriptor's number here; the kernel would have known it
	 * already.
	 */
	struct ib_uverbs_create_comp_channel_resp resp = { 0 };
	int err;
	int reader;
	struct hca_channel *channel = channel_new(cmd->ctx, &reader, &err);

	if (!channel)
		return err;
	err = cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
	if (err) {
		close(reader);
		channel_free(channel);
		return err;
	}
	cmd->give = reader;
	return 0;
}

static int create(struct cmd *cmd, uint32_t vector, int32_t channel_fd, struct cq_request *request,
		  struct hca_cq **cq)
{
	int err;

	if (vector >= COMP_VECTORS)
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
	return cq_create(cmd->ctx, request, cq);
}

int cmd_create_cq(struct cmd *cmd)
{
	const struct ib_uverbs_create_cq *in = cmd->in;
	struct cq_request request = { .user_handle = in->user_handle, .cqe = in->cqe };
	struct ib_uverbs_create_cq_resp resp = { 0 };
	struct driver_part driver;
	struct hca_cq *cq;
	int err = create(cmd, in->comp_vector, in->comp_channel, &request, &cq);

	if (err)
		return err;
	resp.cq_handle = cq->obj.handle;
	resp.cqe = cq->size - 1;
	cmd->ctx->device->model->answer(NUMBERED_CQ, cq->cqn, &driver);
	err = cmd_respond(cmd, &resp, sizeof(resp), driver.bytes, driver.size);
	if (err)
		cq_destroy(cq);
	return err;
}

int cmd_ex_create_cq(struct cmd *cmd)
{
	const struct ib_uverbs_ex_create_cq *in = cmd->in;
	struct cq_request request = {
		.user_handle = in->user_handle, .cqe = in->cqe,
		.stamped = in->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	};
	struct ib_uverbs_ex_create_cq_resp resp = { 0 };
	struct driver_part driver;
	struct hca_cq *cq;
	int err;

	if (in->comp_mask || in->reserved)
		return refuse(-EINVAL, "comp_mask or reserved");
	/* An overrun is always an error. */
	if (in->flags & ~(uint32_t)IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return refuse(-EOPNOTSUPP, "CQ flags");
	err = create(cmd, in->comp_vector, in->comp_channel, &request, &cq);
	if (err)
		return err;
	resp.base.cq_handle = cq->obj.handle;
	resp.base.cqe = cq->size - 1;
	resp.response_length = sizeof(resp);
	cmd->ctx->device->model->answer(NUMBERED_CQ, cq->cqn, &driver);
	err = cmd_respond(cmd, &resp, sizeof(resp), driver.bytes, driver.size);
	if (err)
		cq_destroy(cq);
	return err;
}

int cmd_resize_cq(struct cmd *cmd)
{
	const struct ib_uverbs_resize_cq *request = cmd->in;
	struct hca_cq *cq = object_cq(cmd->ctx, request->cq_handle);
	struct ib_uverbs_resize_cq_resp resp = { 0 };
	struct cq_place place;
	int err;

	if (!cq)
		return refuse(-EINVAL, "CQ handle");
	err = cmd->ctx->device->model->take_resize(cmd->driver_in, cmd->driver_in_size, &place);
	if (!err)
		err = cq_resize(cq, request->cqe, &place);
	if (err)
		return err;
	resp.cqe = cq->size - 1;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

int cmd_destroy_cq(struct cmd *cmd)
{
	const struct ib_uverbs_destroy_cq *request = cmd->in;
	struct hca_cq *cq = object_cq(cmd->ctx, request->cq_handle);
	struct ib_uverbs_destroy_cq_resp resp;

	if (!cq)
		return refuse(-ENOENT, "CQ handle");
	if (cq->obj.uses)
		return refuse(-EBUSY, "CQ in use");
	resp.comp_events_reported = event_settle_completions(cq);
	resp.async_events_reported =
		event_settle_async(cmd->ctx, cq->user_handle, cq->async_events);
	cq_destroy(cq);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
