/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Remembers what the provider had in the hooked slots of each device. */

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ops.h"
#include "state.h"

struct ops_device *_Atomic ops_devices;

post_srq_recv_fn ops_provider_post_srq_recv(const struct ibv_context *context)
{
	const struct ops_device *device = ops_device(context);

	return device ? device->post_srq_recv : context->ops.post_srq_recv;
}

static struct ops_device *free_entry(void)
{
	struct ops_device *device = (struct ops_device *)ops_device(NULL);

	if (device)
		return device;
	device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	device->next = atomic_load(&ops_devices);
	atomic_store_explicit(&ops_devices, device, memory_order_release);
	return device;
}

/* Both slots are noted before the first is hooked: the entry does not change while the device is open. Lock held. */
static int note_device(struct ibv_context *context)
{
	struct ops_device *device;

	if (ops_device(context))
		return 0;
	device = free_entry();
	if (!device)
		return -ENOMEM;
	device->post_srq_recv = context->ops.post_srq_recv;
	device->poll_cq = context->ops.poll_cq;
	atomic_store_explicit(&device->context, context, memory_order_release);
	return 0;
}

int ops_hook_post_srq_recv(struct ibv_context *context, post_srq_recv_fn hook)
{
	int err;

	state_lock();
	err = note_device(context);
	if (!err)
		__atomic_store_n(&context->ops.post_srq_recv, hook, __ATOMIC_RELEASE);
	state_unlock();
	return err;
}

int ops_hook_poll_cq(struct ibv_context *context, poll_cq_fn hook)
{
	int err;

	state_lock();
	err = note_device(context);
	if (!err)
		__atomic_store_n(&context->ops.poll_cq, hook, __ATOMIC_RELEASE);
	state_unlock();
	return err;
}

/* They have 24 bits. A byte for each is the shortest way for poll_cq; of these zero pages a job touches one or two. */
#define QP_NUMBERS (1u << 24)

int ops_track_own(struct ibv_context *context)
{
	struct ops_device *device;
	atomic_bool *own;

	if (note_device(context))
		return -ENOMEM;
	device = (struct ops_device *)ops_device(context);
	if (atomic_load(&device->own))
		return 0;
	/* Not by malloc(), which would learn from the end of so large a piece to take others from the heap. */
	own = mmap(NULL, QP_NUMBERS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (own == MAP_FAILED)
		return -ENOMEM;
	atomic_store_explicit(&device->own, own, memory_order_release);
	return 0;
}

static LIST_HEAD(, ops_own) endings = LIST_HEAD_INITIALIZER(endings);

static void note_reused(const struct ibv_context *context, uint32_t qp_num)
{
	struct ops_own *own;

	LIST_FOREACH(own, &endings, ending)
		if (own->context == context && own->qp_num == qp_num)
			own->reused = true;
}

void ops_begin_end(struct ops_own *own)
{
	own->reused = false;
	LIST_INSERT_HEAD(&endings, own, ending);
}

void ops_end(struct ops_own *own)
{
	LIST_REMOVE(own, ending);
	if (!own->reused)
		ops_note_own(own->context, own->qp_num, false);
}

void ops_note_own(const struct ibv_context *context, uint32_t qp_num, bool own)
{
	const struct ops_device *device = ops_device(context);
	atomic_bool *numbers = device ? atomic_load(&device->own) : NULL;

	if (own)
		note_reused(context, qp_num);
	if (numbers)
		atomic_store(&numbers[qp_num], own);
}

void ops_forget_context(const struct ibv_context *context)
{
	struct ops_device *device = (struct ops_device *)ops_device(context);
	atomic_bool *own;

	if (!device)
		return;
	own = atomic_exchange(&device->own, NULL);
	if (own)
		munmap(own, QP_NUMBERS);
	atomic_store_explicit(&device->context, NULL, memory_order_release);
}
