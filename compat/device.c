/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The end of an opened device. */
#include "device.h"
#include "domain.h"
#include "ops.h"
#include "rcv_qp.h"
#include "srq.h"
#include "xrc_qp.h"

#include <modern/modern.h>

/*
 * Runs before the real close, after which another thread may open a device at the same address.
 * domain_take() comes first: it waits for verbs of other threads, which may still create objects.
 */
static void detach_all(const struct ibv_context *context, struct device_domain_list *ended)
{
	state_lock();
	domain_take(context, ended);
	srq_forget_context(context);
	xrc_qp_forget_context(context);
	ops_forget_context(context);
	state_unlock();
}

int device_close(struct ibv_context *context)
{
	struct device_domain_list ended = LIST_HEAD_INITIALIZER(ended);
	struct device_domain *device_domain;

	detach_all(context, &ended);
	while ((device_domain = LIST_FIRST(&ended))) {
		rcv_qp_end_all(device_domain);
		domain_end(device_domain);
		state_lock();
		device_domain_put(device_domain);
		state_unlock();
	}
	return modern_close_device(context);
}
