/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC domains of today: ibv_open_xrcd, ibv_close_xrcd. */

#include <fcntl.h>

#include "modern.h"
#include "table.h"

int modern_open_xrcd(struct ibv_context *context, int fd, int oflag, struct ibv_xrcd **xrcd)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		/* The only two the kernel has ever looked at (contract 5.1). */
		.oflags = oflag & (O_CREAT | O_EXCL),
	};
	struct ibv_xrcd *opened = modern_table.open_xrcd(context, &attr);

	if (!opened)
		return modern_null_status();
	*xrcd = opened;
	return 0;
}

int modern_close_xrcd(struct ibv_xrcd *xrcd)
{
	return modern_status(modern_table.close_xrcd(xrcd));
}
