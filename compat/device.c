/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The first domain of a program, and the end of an opened device. */

#include <errno.h>

#include <modern/modern.h>

#include "device.h"
#include "domain.h"
#include "event.h"
#include "fork.h"
#include "ops.h"
#include "program.h"
#include "rcv_qp.h"
#include "srq.h"
#include "xrc_qp.h"

void device_use_begin(void)
{
	fork_watch();
	program_note_xrc();
	atomic_store_explicit(&state_used, true, memory_order_release);
}

/* First ours: once the real close is done another thread may get the same address for a new device. */
static void take_all(const struct ibv_context *context, struct domain_list *domains, struct device_domain_list *ended)
{
	state_lock();
	srq_forget_context(context);
	xrc_qp_forget_context(context);
	event_forget_context(context);
	ops_forget_context(context);
	domain_take(context, domains);
	device_domain_take(context, ended);
	state_unlock();
}

int device_close(struct ibv_context *context)
{
	struct device_domain_list ended = LIST_HEAD_INITIALIZER(ended);
	struct domain_list domains = LIST_HEAD_INITIALIZER(domains);
	struct device_domain *device_domain;

	if (!context)
		return -EINVAL;
	if (!state_in_use())
		return modern_close_device(context);
	take_all(context, &domains, &ended);
	LIST_FOREACH(device_domain, &ended, link)
		rcv_qp_end_all(device_domain);
	domain_end(&domains);
	while ((device_domain = LIST_FIRST(&ended))) {
		LIST_REMOVE(device_domain, link);
		device_domain_free(device_domain);
	}
	return modern_close_device(context);
}
