/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about completion channels and completion queues. */
#include "cmd.h"

#include <softhca/base/refuse.h>
#include <softhca/objects/objects.h>

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

/* The response of the first command is the beginning of that of the second. */
static int create(struct cmd *cmd, uint32_t vector, int32_t channel_fd, struct cq_request *request)
{
	struct ib_uverbs_ex_create_cq_resp resp = { .response_length = sizeof(resp) };
	struct hca_cq *cq;
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
	struct hca_cq *cq = object_find(cmd->ctx, HCA_CQ, request->cq_handle);
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
	struct ib_uverbs_destroy_cq_resp resp;
	int err;
	struct hca_cq *cq = object_find_unused(cmd->ctx, HCA_CQ, request->cq_handle, &err);

	if (err)
		return err;
	resp.comp_events_reported = event_settle_completions(cq);
	resp.async_events_reported =
		event_settle_async(cmd->ctx, cq->user_handle, cq->async_events);
	object_destroy(&cq->obj);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
