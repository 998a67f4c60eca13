/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Makes polling fail when the daemon has ended. A program that only polls makes no system call, so it would poll for ever.
 * The command that creates a CQ contains the program's pointer to it, because events carry that pointer. When the next command comes,
 * libibverbs has filled in the CQ, and the functions here take the place of the provider's.
 */
#include "dev.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_EVERY_MS 100

struct polled_cq {
	struct polled_cq *next;
	uint32_t handle;
	bool hooked;
	_Atomic(struct ibv_cq_ex *) cq; /* of the program, if it told the truth; NULL = free entry */
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr); /* the provider's */
};

/* The coarse clock costs no system call on any machine. */
static bool time_to_look(struct dev *dev)
{
	struct timespec now;
	uint64_t ms;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (ms - atomic_load_explicit(&dev->looked, memory_order_relaxed) < LOOK_EVERY_MS)
		return false;
	atomic_store_explicit(&dev->looked, ms, memory_order_relaxed);
	return true;
}

/* Called when a poll found nothing: earlier completions are still handed out. */
static bool has_ended(struct dev *dev)
{
	return atomic_load_explicit(&dev->ended, memory_order_relaxed) || (time_to_look(dev) && dev_ended(dev));
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	struct dev *dev = dev_at(cq->context->cmd_fd);
	int got = dev ? dev->poll_cq(cq, count, wc) : 0;

	if (got || (dev && !has_ended(dev)))
		return got;
	errno = EIO;
	return -1;
}

static struct polled_cq *find(struct dev *dev, const struct ibv_cq_ex *cq)
{
	struct polled_cq *entry = atomic_load(&dev->cqs);

	while (entry && atomic_load(&entry->cq) != cq)
		entry = entry->next;
	return entry;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct dev *dev = dev_at(cq->context->cmd_fd);
	struct polled_cq *entry = dev ? find(dev, cq) : NULL;
	int error = entry ? entry->start_poll(cq, attr) : EIO;

	return error == ENOENT && has_ended(dev) ? EIO : error;
}

/* Both providers keep every queue in a structure that begins with the extended one. Without extended polling it has no start_poll. */
static bool hook(struct dev *dev, struct polled_cq *entry)
{
	struct ibv_cq_ex *cq = atomic_load(&entry->cq);
	struct ibv_context *context;
	int cmd_fd;

	if (!peek(&context, &cq->context, sizeof(context)) || !peek(&cmd_fd, &context->cmd_fd, sizeof(cmd_fd)) || dev_at(cmd_fd) != dev)
		return false;
	if (!dev->poll_cq) {
		dev->poll_cq = context->ops.poll_cq;
		__atomic_store_n(&context->ops.poll_cq, poll_cq, __ATOMIC_RELEASE);
	}
	if (peek(&entry->start_poll, &cq->start_poll, sizeof(entry->start_poll)) && entry->start_poll)
		__atomic_store_n(&cq->start_poll, start_poll, __ATOMIC_RELEASE);
	return true;
}

void polling_hook(struct dev *dev)
{
	for (struct polled_cq *entry = atomic_load(&dev->cqs); entry; entry = entry->next) {
		if (!entry->hooked && atomic_load(&entry->cq))
			entry->hooked = hook(dev, entry);
	}
}

static struct polled_cq *free_entry(struct dev *dev)
{
	struct polled_cq *entry = find(dev, NULL);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (entry) {
		entry->next = atomic_load(&dev->cqs);
		atomic_store(&dev->cqs, entry);
	}
	return entry;
}

static void add(struct dev *dev, uint64_t cq, uint64_t response)
{
	struct polled_cq *entry;
	uint32_t handle;

	if (!peek(&handle, (void *)(uintptr_t)response, sizeof(handle)))
		return;
	entry = free_entry(dev);
	if (!entry)
		return;
	entry->handle = handle;
	entry->hooked = false;
	atomic_store(&entry->cq, (struct ibv_cq_ex *)(uintptr_t)cq);
}

static void drop(struct dev *dev, uint32_t handle)
{
	for (struct polled_cq *entry = atomic_load(&dev->cqs); entry; entry = entry->next) {
		if (entry->handle == handle)
			atomic_store(&entry->cq, NULL);
	}
}

void polling_note(struct dev *dev, const void *command, size_t length)
{
	const struct ib_uverbs_cmd_hdr *hdr = command;
	const void *body = hdr + 1;

	if (hdr->command == IB_USER_VERBS_CMD_CREATE_CQ && length >= sizeof(*hdr) + sizeof(struct ib_uverbs_create_cq)) {
		const struct ib_uverbs_create_cq *in = body;

		add(dev, in->user_handle, in->response);
	} else if (hdr->command == (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ)) {
		const struct ib_uverbs_ex_cmd_hdr *ex = body;
		const struct ib_uverbs_ex_create_cq *in = (const void *)(ex + 1);

		add(dev, in->user_handle, ex->response);
	} else if (hdr->command == IB_USER_VERBS_CMD_DESTROY_CQ &&
		   length >= sizeof(*hdr) + sizeof(struct ib_uverbs_destroy_cq)) {
		drop(dev, ((const struct ib_uverbs_destroy_cq *)body)->cq_handle);
	}
}

void polling_free(struct dev *dev)
{
	struct polled_cq *entry = atomic_load(&dev->cqs), *next;

	for (; entry; entry = next) {
		next = entry->next;
		free(entry);
	}
}
