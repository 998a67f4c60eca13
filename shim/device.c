/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: ibv_open_device, ibv_close_device. */
#include <base/summary.h>
#include <compat/device.h>
#include <modern/modern.h>
#include <modern/table.h>

#include "shim.h"

/*
 * Legacy: today's verb.
 * Modern: ibv_open_device.
 * Difference: none known; the name is noted for `xrc-compat run --summary`.
 */
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = NULL;
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_open_device, NULL);

	if (!err)
		err = modern_open_device(device, &context);
	if (!err)
		summary_note_device(context->device->name);
	return shim_leave_made(&entry, err, context);
}
SHIM_EXPORT(ibv_open_device);

static NOT_ORDINARY int close_device(struct ibv_context *context)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_close_device, ARGUMENTS(context));

	if (!err)
		err = device_close(context);
	return shim_leave(&entry, err);
}

/*
 * Legacy: domains, SRQs and registrations of the device end with it.
 * Modern: ibv_close_device, after the library has ended its own objects of the device.
 * Difference: none known.
 */
int ibv_close_device(struct ibv_context *context)
{
	return program_is_ordinary() ? modern_table.close_device(context) : close_device(context);
}
SHIM_EXPORT(ibv_close_device);
