/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: ibv_close_device. */

#include <compat/device.h>

#include "shim.h"

/*
 * Legacy: domains, SRQs and registrations of the device end with it.
 * Modern: ibv_close_device, after the library has ended its own objects of the device.
 * Difference: none known.
 */
int ibv_close_device(struct ibv_context *context)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_close_device, NULL);

	if (!err)
		err = device_close(context);
	return shim_leave(&entry, err);
}
SHIM_EXPORT(ibv_close_device);
