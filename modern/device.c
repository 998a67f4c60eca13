/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opened devices of today, and their XRC domains: ibv_open_xrcd, ibv_close_xrcd. */
#include "modern.h"
#include "status.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>

uint64_t modern_device_guid(const struct ibv_context *context)
{
	return modern_table.get_device_guid(context->device);
}

int modern_open_device(struct ibv_device *device, struct ibv_context **context)
{
	struct ibv_context *opened;

	errno = 0;
	opened = modern_table.open_device(device);
	if (!opened)
		return modern_null_status();
	*context = opened;
	return 0;
}

int modern_close_device(struct ibv_context *context)
{
	return modern_status(modern_table.close_device(context));
}

int modern_open_xrcd(struct ibv_context *context, int fd, int oflag, struct ibv_xrcd **xrcd)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		/* The kernel reads only these two (contract 5.1). */
		.oflags = oflag & (O_CREAT | O_EXCL),
	};
	struct ibv_xrcd *opened;

	errno = 0;
	opened = modern_table.open_xrcd(context, &attr);
	if (!opened)
		return modern_null_status();
	*xrcd = opened;
	return 0;
}

int modern_close_xrcd(struct ibv_xrcd *xrcd)
{
	return modern_status(modern_table.close_xrcd(xrcd));
}
