// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Commands about completion channels and completion queues. */
#include "cmd.h"

#include <softhca/objects/cq.h>
#include <softhca/objects/event.h>
#include <softhca/objects/object.h>

#include <errno.h>
#include <rdma/mlx4-abi.h>
#include <unistd.h>

#define COMP_VECTORS 4

int cmd_create_comp_channel(struct cmd *cmd)
{
	/* The client's preload puts the descriptor's number here; the kernel would have known it already. */
	struct ib_uverbs_create_comp_channel_resp resp = { 0 };
	int error;
	int reader;
	struct hca_channel *channel = channel_new(cmd->ctx, &reader, &error);

	if (!channel)
		return error;
	error = cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
	if (error) {
		close(reader);
		channel_free(channel);
		return error;
	}
	cmd->give = reader;
	return 0;
}

static int create(struct cmd *cmd, uint32_t vector, int32_t channel_fd, struct cq_request *request,
		  struct hca_cq **cq)
{
	const struct mlx4_ib_create_cq *driver = cmd->driver_in;

	if (vector >= COMP_VECTORS || cmd->driver_in_size < sizeof(*driver))
		return -EINVAL;
	if (channel_fd >= 0) {
		request->channel = channel_find(cmd->ctx, cmd->fd);
		if (!request->channel)
			return -EBADF;
	}
	request->buffer = driver->buf_addr;
	request->doorbell = driver->db_addr;
	return cq_create(cmd->ctx, request, cq);
}

int cmd_create_cq(struct cmd *cmd)
{
	const struct ib_uverbs_create_cq *in = cmd->in;
	struct cq_request request = { .user_handle = in->user_handle, .cqe = in->cqe };
	struct ib_uverbs_create_cq_resp resp = { 0 };
	struct mlx4_ib_create_cq_resp driver = { 0 };
	struct hca_cq *cq;
	int error = create(cmd, in->comp_vector, in->comp_channel, &request, &cq);

	if (error)
		return error;
	resp.cq_handle = cq->obj.handle;
	resp.cqe = cq->size - 1;
	driver.cqn = cq->cqn;
	error = cmd_respond(cmd, &resp, sizeof(resp), &driver, sizeof(driver));
	if (error)
		cq_destroy(cq);
	return error;
}

int cmd_ex_create_cq(struct cmd *cmd)
{
	const struct ib_uverbs_ex_create_cq *in = cmd->in;
	struct cq_request request = { .user_handle = in->user_handle, .cqe = in->cqe };
	struct ib_uverbs_ex_create_cq_resp resp = { 0 };
	struct mlx4_ib_create_cq_resp driver = { 0 };
	struct hca_cq *cq;
	int error;

	if (in->comp_mask || in->reserved)
		return -EINVAL;
	/* No clock, so no time stamps; and an overrun is always an error. */
	if (in->flags)
		return -EOPNOTSUPP;
	error = create(cmd, in->comp_vector, in->comp_channel, &request, &cq);
	if (error)
		return error;
	resp.base.cq_handle = cq->obj.handle;
	resp.base.cqe = cq->size - 1;
	resp.response_length = sizeof(resp);
	driver.cqn = cq->cqn;
	error = cmd_respond(cmd, &resp, sizeof(resp), &driver, sizeof(driver));
	if (error)
		cq_destroy(cq);
	return error;
}

int cmd_resize_cq(struct cmd *cmd)
{
	const struct ib_uverbs_resize_cq *request = cmd->in;
	const struct mlx4_ib_resize_cq *driver = cmd->driver_in;
	struct hca_cq *cq = object_cq(cmd->ctx, request->cq_handle);
	struct ib_uverbs_resize_cq_resp resp = { 0 };
	int error;

	if (!cq || cmd->driver_in_size < sizeof(*driver))
		return -EINVAL;
	error = cq_resize(cq, request->cqe, driver->buf_addr);
	if (error)
		return error;
	resp.cqe = cq->size - 1;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

int cmd_destroy_cq(struct cmd *cmd)
{
	const struct ib_uverbs_destroy_cq *request = cmd->in;
	struct hca_cq *cq = object_cq(cmd->ctx, request->cq_handle);
	struct ib_uverbs_destroy_cq_resp resp;

	if (!cq)
		return -ENOENT;
	if (cq->obj.uses)
		return -EBUSY;
	resp.comp_events_reported = event_settle_completions(cq);
	resp.async_events_reported = event_settle_async(cmd->ctx, cq->user_handle, cq->async_events);
	cq_destroy(cq);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
