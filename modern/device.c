/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opened devices of today, and their XRC domains: ibv_open_xrcd, ibv_close_xrcd. */
#include "modern.h"
#include "status.h"
#include "table.h"

#include <elf/loader.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

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

/* By the name of the provider's file: libmlx4-rdmav34.so or libmlx4.so.1. */
static bool is_of_libmlx4(const void *function)
{
	sigset_t before;
	Dl_info info;
	bool found;

	loader_hold_signals(&before);
	found = dladdr(function, &info);
	loader_release_signals(&before);
	return found && info.dli_fname &&
	       !strncmp(basename(info.dli_fname), "libmlx4", strlen("libmlx4"));
}

/* Asks the loader once in a process whose adapters are of one family. */
bool modern_tags_tgt_qps(struct ibv_context *context)
{
	static const void *_Atomic known[2];	/* create_qp_ex with this answer */
	struct verbs_context *verbs = verbs_get_ctx_op(context, create_qp_ex);
	const void *function = verbs ? (const void *)verbs->create_qp_ex : NULL;
	bool tags;

	if (!function || function == atomic_load(&known[false]))
		return false;
	if (function == atomic_load(&known[true]))
		return true;
	tags = is_of_libmlx4(function);
	atomic_store(&known[tags], function);
	return tags;
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
