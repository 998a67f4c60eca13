/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opened devices of today. */

#include "modern.h"
#include "table.h"

uint64_t modern_device_guid(const struct ibv_context *context)
{
	return modern_table.get_device_guid(context->device);
}

int modern_close_device(struct ibv_context *context)
{
	return modern_status(modern_table.close_device(context));
}
