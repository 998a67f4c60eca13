/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Wakes the daemon when the program rings a doorbell.
 *
 * A doorbell is a store to memory, which wakes nothing. So the functions of the provider that ring
 * doorbells are replaced in each context by functions that call them, and then wake the daemon if
 * it sleeps. They use a futex in shared memory, because the program may close any descriptor of
 * ours and use its number for a file. The daemon finds doorbells that the program rings itself,
 * because it looks for them now and then.
 */
#include "dev.h"

#include <own/real.h>
#include <proto.h>

#include <errno.h>
#include <infiniband/verbs.h>
#include <linux/futex.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* The page of the last daemon that the program met. Stays mapped: any thread may be using it. */
static struct softhca_wake *_Atomic page;
/* Inode of that page's memfd. No other memfd gets this number while the page is mapped. */
static _Atomic uint64_t page_inode;

/* The provider's functions, which are the same in all its contexts. */
static int (*_Atomic provider_post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
					 struct ibv_send_wr **bad);
static int (*_Atomic provider_notify)(struct ibv_cq *cq, int solicited_only);
static void (*_Atomic provider_start)(struct ibv_qp_ex *qp);
static int (*_Atomic provider_complete)(struct ibv_qp_ex *qp);

/* Found in libibverbs before any command, since no command may wait for the loader's lock. */
static struct ibv_qp_ex *(*_Atomic qp_to_ex)(struct ibv_qp *qp);

void wake_find_verbs(void)
{
	if (!atomic_load(&qp_to_ex)) {
		__typeof__(atomic_load(&qp_to_ex)) found;

		*(void **)&found = real_verb("ibv_qp_to_qp_ex");
		atomic_store(&qp_to_ex, found);
	}
}

void wake_map(int fd)
{
	struct softhca_wake *memory;
	uint64_t inode;

	if (fd < 0)
		return;
	inode = fd_file(fd).inode;
	/* Threads that open devices at once may each map it. */
	if (!page || inode != page_inode) {
		memory = real()->mmap64(NULL, SOFTHCA_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					0);
		if (memory != MAP_FAILED) {
			atomic_store(&page, memory);
			atomic_store(&page_inode, inode);
		}
	}
	real()->close(fd);
}

/*
 * Of two programs that ring at once, one wakes the daemon. If that one is killed before it does,
 * the daemon finds the doorbells when its nap ends.
 */
static void wake(void)
{
	struct softhca_wake *shared = atomic_load_explicit(&page, memory_order_relaxed);
	int saved;

	/* The daemon tells that it will sleep, and then looks at the doorbells once more. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&shared->asleep, memory_order_relaxed))
		return;
	atomic_store_explicit(&shared->processor, (uint32_t)sched_getcpu(), memory_order_relaxed);
	if (!atomic_exchange(&shared->asleep, 0))
		return;
	saved = errno;
	syscall(SYS_futex, &shared->asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int err = atomic_load_explicit(&provider_post_send, memory_order_relaxed)(qp, wr, bad);

	wake();
	return err;
}

static int notify(struct ibv_cq *cq, int solicited_only)
{
	int err = atomic_load_explicit(&provider_notify, memory_order_relaxed)(cq, solicited_only);

	wake();
	return err;
}

static int complete(struct ibv_qp_ex *qp)
{
	int err = atomic_load_explicit(&provider_complete, memory_order_relaxed)(qp);

	wake();
	return err;
}

/*
 * Puts OURS in the place of the function at AT, and keeps that in PROVIDER. Leaves AT if PROVIDER
 * has another function already.
 */
#define REPLACE(AT, OURS, PROVIDER) \
	do { \
		__typeof__(atomic_load(&(PROVIDER))) found = *(AT), none = NULL; \
\
		if (found && found != (OURS) && \
		    (atomic_compare_exchange_strong(&(PROVIDER), &none, found) || none == found)) \
			__atomic_store_n(AT, OURS, __ATOMIC_RELEASE); \
	} while (0)

/*
 * libmlx5 sets wr_complete() when it has brought the QP to RTS, after the command. Until then, and
 * from RESET on, it has another one that refuses.
 */
static void start(struct ibv_qp_ex *qp)
{
	atomic_load_explicit(&provider_start, memory_order_relaxed)(qp);
	if (qp->wr_complete != complete && qp->qp_base.state == IBV_QPS_RTS)
		REPLACE(&qp->wr_complete, complete, provider_complete);
}

void wake_replace(struct ibv_context *context)
{
	if (!page)
		return;
	REPLACE(&context->ops.post_send, post_send, provider_post_send);
	REPLACE(&context->ops.req_notify_cq, notify, provider_notify);
}

static void replace_in_qp(struct ibv_qp *qp, int fd)
{
	struct ibv_qp_ex *ex = NULL;

	if (qp_to_ex && handles_context(qp, fd))
		ex = qp_to_ex(qp);
	if (ex)
		REPLACE(&ex->wr_start, start, provider_start);
}

void wake_note(struct dev *dev, const uint64_t *command, size_t length)
{
	const struct ib_uverbs_cmd_hdr *hdr = (const void *)command;

	if (!page)
		return;
	handles_note(&dev->qps, IB_USER_VERBS_CMD_DESTROY_QP, command, length);
	if (hdr->command == IB_USER_VERBS_CMD_MODIFY_QP) {
		const struct ib_uverbs_modify_qp *in = (const void *)(hdr + 1);

		replace_in_qp(handles_find(&dev->qps, in->qp_handle), dev->fd);
	}
}
