/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A context's CQs, so that polling them fails when the daemon is gone. */
#include "client.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <string.h>

struct cq_entry {
	uint32_t handle;
	uint64_t cq; /* struct ibv_cq * of the program, not checked yet */
};

/* Pointers from the program are checked before they are used. */
static bool peek_at(void *to, uint64_t from, size_t length)
{
	return peek(to, (const void *)(uintptr_t)from, length);
}

static void add(struct cqs *cqs, uint64_t cq, uint64_t response)
{
	struct cq_entry entry = { .cq = cq };
	struct cq_entry *more;

	if (!peek_at(&entry.handle, response, sizeof(entry.handle)))
		return;
	more = realloc(cqs->entry, (cqs->count + 1) * sizeof(*more));
	if (!more)
		return;
	cqs->entry = more;
	cqs->entry[cqs->count++] = entry;
}

static void drop(struct cqs *cqs, uint32_t handle)
{
	for (size_t i = 0; i < cqs->count; i++) {
		if (cqs->entry[i].handle != handle)
			continue;
		cqs->entry[i] = cqs->entry[--cqs->count];
		return;
	}
}

void cqs_note(struct cqs *cqs, const void *command)
{
	const struct ib_uverbs_cmd_hdr *hdr = command;
	const void *body = hdr + 1;

	if (hdr->command == IB_USER_VERBS_CMD_CREATE_CQ) {
		const struct ib_uverbs_create_cq *in = body;

		add(cqs, in->user_handle, in->response);
	} else if (hdr->command ==
		   (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ)) {
		const struct ib_uverbs_ex_cmd_hdr *ex = body;
		const struct ib_uverbs_ex_create_cq *in = (const void *)(ex + 1);

		add(cqs, in->user_handle, ex->response);
	} else if (hdr->command == IB_USER_VERBS_CMD_DESTROY_CQ) {
		drop(cqs, ((const struct ib_uverbs_destroy_cq *)body)->cq_handle);
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

	if (peek_at(&start_poll, (uint64_t)(uintptr_t)cq + offsetof(struct ibv_cq_ex, start_poll),
		    sizeof(start_poll)) &&
	    start_poll)
		__atomic_store_n(&cq->start_poll, start_poll_dead, __ATOMIC_RELEASE);
}

/* The context that has @fd open, found by way of a queue; or NULL. */
static struct ibv_context *context_of(uint64_t cq, int fd)
{
	struct ibv_context *context;
	int cmd_fd;

	if (!peek_at(&context, cq + offsetof(struct ibv_cq, context), sizeof(context)) ||
	    !peek_at(&cmd_fd, (uint64_t)(uintptr_t)context + offsetof(struct ibv_context, cmd_fd),
		     sizeof(cmd_fd)))
		return NULL;
	return cmd_fd == fd ? context : NULL;
}

void cqs_fail(struct cqs *cqs, int fd)
{
	for (size_t i = 0; i < cqs->count; i++) {
		struct ibv_context *context = context_of(cqs->entry[i].cq, fd);

		if (!context)
			continue;
		fail_extended((struct ibv_cq_ex *)(uintptr_t)cqs->entry[i].cq);
		if (cqs->poll)
			continue;
		cqs->poll = context->ops.poll_cq;
		__atomic_store_n(&context->ops.poll_cq, poll_dead, __ATOMIC_RELEASE);
	}
}

void cqs_free(struct cqs *cqs)
{
	free(cqs->entry);
}
