/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opened devices of today, and their XRC domains: ibv_open_xrcd, ibv_close_xrcd. */
#include "modern.h"
#include "table.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

uint64_t modern_device_guid(const struct ibv_context *context)
{
	return modern_table.get_device_guid(context->device);
}

int modern_close_device(struct ibv_context *context)
{
	return modern_status(modern_table.close_device(context));
}

/* The file of the provider tells: libmlx4-rdmav34.so or libmlx4.so.1. */
bool modern_tags_tgt_qps(struct ibv_context *context)
{
	struct verbs_context *verbs = verbs_get_ctx_op(context, create_qp_ex);
	Dl_info info;

	return verbs && dladdr((const void *)verbs->create_qp_ex, &info) && info.dli_fname &&
	       !strncmp(basename(info.dli_fname), "libmlx4", strlen("libmlx4"));
}

int modern_open_xrcd(struct ibv_context *context, int fd, int oflag, struct ibv_xrcd **xrcd)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		/* The kernel reads only these two (contract 5.1). */
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
