/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Domains and devices that the application has closed, and that end with what is kept in them for other processes. */

#include <modern/modern.h>

#include "keep.h"

static struct handle_map closed_devices;

void keeper_abandon(struct domain *domain)
{
	LIST_INSERT_HEAD(&domain->core->kept->abandoned, domain, abandoned);
}

bool keeper_keep_device(struct ibv_context *context)
{
	return !handle_add(&closed_devices, context, context);
}

static unsigned abandoned_count(const struct kept *kept)
{
	const struct domain *domain;
	unsigned count = 0;

	LIST_FOREACH(domain, &kept->abandoned, abandoned)
		count++;
	return count;
}

static void end_abandoned(struct kept *kept)
{
	struct domain *domain;

	while ((domain = LIST_FIRST(&kept->abandoned))) {
		LIST_REMOVE(domain, abandoned);
		domain_discard(domain);
	}
}

/* The last thing an opened device was kept for may have been this core. Lock held. */
static bool device_is_done(const struct ibv_context *context)
{
	if (core_of_context(context) || !handle_find(&closed_devices, context))
		return false;
	handle_remove(&closed_devices, context, context);
	return true;
}

bool orphan_end(struct core *core)
{
	struct ibv_context *context = core->context;
	struct kept *kept = core->kept;
	bool close;

	state_lock();
	core->ending = !kept->count && core->handles && abandoned_count(kept) == core->handles;
	state_unlock();
	if (!core->ending)
		return false;
	keeper_close(core);
	table_close(&core->table);
	end_abandoned(kept);
	state_lock();
	core_hide(core);
	close = device_is_done(context);
	state_unlock();
	core_free(core);
	if (close)
		modern_close_device(context);
	return true;
}
