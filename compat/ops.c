/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Keeps the provider's functions of the hooked slots of each device. */
#include "ops.h"

#include <base/state.h>

#include <errno.h>
#include <stdlib.h>

struct ops_device *_Atomic ops_devices;

post_srq_recv_fn ops_provider_post_srq_recv(const struct ibv_context *context)
{
	const struct ops_device *device = ops_find(context);

	return device ? device->post_srq_recv : context->ops.post_srq_recv;
}

static struct ops_device *unused_entry(void)
{
	struct ops_device *device = ops_find(NULL); /* a closed device's entry has no context */

	if (device)
		return device;
	device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	device->next = atomic_load(&ops_devices);
	atomic_store_explicit(&ops_devices, device, memory_order_release);
	return device;
}

/*
 * Saves both slots before the first is hooked: hooks read the entry without the lock. NULL: no
 * memory. Lock held.
 */
static struct ops_device *note_device(struct ibv_context *context)
{
	struct ops_device *device = ops_find(context);

	if (device)
		return device;
	device = unused_entry();
	if (!device)
		return NULL;
	device->post_srq_recv = context->ops.post_srq_recv;
	device->poll_cq = context->ops.poll_cq;
	device->numbers = NULL;
	device->posts_hooked = false;
	atomic_store_explicit(&device->context, context, memory_order_release);
	return device;
}

int ops_hook_post_srq_recv(struct ibv_context *context, post_srq_recv_fn hook)
{
	struct ops_device *device;

	state_lock();
	device = note_device(context);
	if (device && !device->posts_hooked) {
		device->posts_hooked = true;
		__atomic_store_n(&context->ops.post_srq_recv, hook, __ATOMIC_RELEASE);
	}
	state_unlock();
	return device ? 0 : -ENOMEM;
}

int ops_hook_poll_cq(struct ibv_context *context, poll_cq_fn hook)
{
	const struct qp_numbers *numbers = qp_numbers_of(context);
	struct ops_device *device;

	if (!numbers)
		return -ENOMEM;
	state_lock();
	device = note_device(context);
	if (device && !device->numbers) {
		device->numbers = numbers;
		__atomic_store_n(&context->ops.poll_cq, hook, __ATOMIC_RELEASE);
	}
	state_unlock();
	return device ? 0 : -ENOMEM;
}

void ops_forget_context(const struct ibv_context *context)
{
	struct ops_device *device = ops_find(context);

	if (device)
		atomic_store_explicit(&device->context, NULL, memory_order_release);
}
