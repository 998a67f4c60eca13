/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The provider's functions that poll are replaced by functions that call the provider's. If the CQ
 * is empty, the new functions give up the processor, and look whether the daemon has ended: a
 * program that only polls would not notice its end.
 */
#include "dev.h"

#include <own/code.h>

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <stdatomic.h>

/* Each provider has several functions for extended CQs. A library may replace poll_cq(). */
#define FUNCTIONS 4

typedef int poll_fn(struct ibv_cq *cq, int count, struct ibv_wc *wc);
typedef int start_fn(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);

static void *_Atomic polls[FUNCTIONS], *_Atomic starts[FUNCTIONS]; /* that were replaced */

/*
 * After a poll that found nothing. Returns whether the daemon has ended. Yields first: an adapter
 * works while the program polls, but the daemon and the peer may need this processor for that.
 */
static bool yield_to_daemon(int fd)
{
	sched_yield();
	return dev_has_ended(fd);
}

/* What was completed before the daemon's end is still returned. */
static int poll_or_fail(poll_fn *provider, struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	int got = provider(cq, count, wc);

	if (got || !yield_to_daemon(cq->context->cmd_fd))
		return got;
	errno = EIO;
	return -1;
}

static int start_or_fail(start_fn *provider, struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int err = provider(cq, attr);

	return err == ENOENT && yield_to_daemon(cq->context->cmd_fd) ? EIO : err;
}

#define REPLACEMENTS(N) \
	static int poll_##N(struct ibv_cq *cq, int count, struct ibv_wc *wc) \
	{ \
		return poll_or_fail(atomic_load_explicit(&polls[N], memory_order_relaxed), cq, \
				    count, wc); \
	} \
	static int start_##N(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr) \
	{ \
		return start_or_fail(atomic_load_explicit(&starts[N], memory_order_relaxed), cq, \
				     attr); \
	}
REPLACEMENTS(0)
REPLACEMENTS(1)
REPLACEMENTS(2)
REPLACEMENTS(3)

static void *const our_polls[FUNCTIONS] = { poll_0, poll_1, poll_2, poll_3 };
static void *const our_starts[FUNCTIONS] = { start_0, start_1, start_2, start_3 };

/* A function beyond FUNCTIONS stays: its caller polls for ever when the daemon has ended. */
static void replace(void **at, void *_Atomic *replaced, void *const *ours)
{
	void *found = *at;

	for (int i = 0; i < FUNCTIONS; i++) {
		if (found == ours[i])
			return;
	}
	for (int i = 0; i < FUNCTIONS; i++) {
		void *other = NULL;

		if (!atomic_compare_exchange_strong(&replaced[i], &other, found) && other != found)
			continue;
		__atomic_store_n(at, ours[i], __ATOMIC_RELEASE);
		return;
	}
}

/*
 * Both providers keep every queue in a structure that begins with the extended one. libmlx4 never
 * sets start_poll of a plain CQ, and no command tells which CQs are extended. So only a function of
 * the provider is replaced. peek() keeps valgrind from reporting that the value is not set.
 */
static void replace_start(struct handle *handle)
{
	struct ibv_cq_ex *cq = handle->object;
	void *found;

	if (peek(&found, &cq->start_poll, sizeof(found)) &&
	    (is_in_provider(PROVIDER_MLX4, found) || is_in_provider(PROVIDER_MLX5, found)))
		replace((void **)&cq->start_poll, starts, our_starts);
	if (handle->maker == gettid())
		handle->maker = 0;
}

/* A library that has put its own poll_cq() on ours keeps it: that one calls ours. */
static void replace_in_context(struct dev *dev, struct ibv_context *context)
{
	if (dev->replaced)
		return;
	replace((void **)&context->ops.poll_cq, polls, our_polls);
	wake_replace(context);
	dev->replaced = true;
}

/*
 * A new CQ gets its context after the command that creates it, and its functions later still
 * (libmlx4), while other threads give commands. They are there when the thread that made the CQ
 * gives its next command. Until then each command looks at the CQ.
 */
void cqs_note(struct dev *dev, const uint64_t *command, size_t length)
{
	for (size_t i = 0; i < dev->cqs.count; i++) {
		struct handle *cq = &dev->cqs.entry[i];

		if (!cq->context)
			cq->context = handles_context(cq->object, dev->fd);
		if (!cq->context)
			continue;
		replace_in_context(dev, cq->context);
		if (cq->maker)
			replace_start(cq);
	}
	handles_note(&dev->cqs, IB_USER_VERBS_CMD_DESTROY_CQ, command, length);
}
