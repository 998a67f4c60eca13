/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A context's CQs, so that polling them fails when the daemon is gone. */
#include "client.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

void cqs_note(struct handles *cqs, const void *command)
{
	const struct ib_uverbs_cmd_hdr *hdr = command;
	const void *body = hdr + 1;

	if (hdr->command == IB_USER_VERBS_CMD_CREATE_CQ) {
		const struct ib_uverbs_create_cq *in = body;

		handles_add(cqs, in->user_handle, in->response);
	} else if (hdr->command ==
		   (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ)) {
		const struct ib_uverbs_ex_cmd_hdr *ex = body;
		const struct ib_uverbs_ex_create_cq *in = (const void *)(ex + 1);

		handles_add(cqs, in->user_handle, ex->response);
	} else if (hdr->command == IB_USER_VERBS_CMD_DESTROY_CQ) {
		handles_drop(cqs, ((const struct ib_uverbs_destroy_cq *)body)->cq_handle);
	}
}

/* What was completed before the end is still handed out. */
static int poll_dead(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	poll_cq_fn *poll = dev_provider_poll(cq->context->cmd_fd);
	int got = poll ? poll(cq, count, wc) : 0;

	if (got > 0)
		return got;
	errno = EIO;
	return -1;
}

static int start_poll_dead(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	(void)cq;
	(void)attr;
	return EIO;
}

/* Both providers keep every queue in a structure that begins with the extended one. */
static void fail_extended(struct ibv_cq_ex *cq)
{
	void *start_poll;

	if (peek(&start_poll, &cq->start_poll, sizeof(start_poll)) && start_poll)
		__atomic_store_n(&cq->start_poll, start_poll_dead, __ATOMIC_RELEASE);
}

void cqs_fail(const struct handles *cqs, int fd, poll_cq_fn **poll)
{
	for (size_t i = 0; i < cqs->count; i++) {
		struct ibv_context *context = handles_context(cqs->entry[i].object, fd);

		if (!context)
			continue;
		fail_extended(cqs->entry[i].object);
		if (*poll)
			continue;
		*poll = context->ops.poll_cq;
		__atomic_store_n(&context->ops.poll_cq, poll_dead, __ATOMIC_RELEASE);
	}
}
