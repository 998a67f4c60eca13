/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* This library is not linked with libibverbs. The program, which opens the device, is. */

#include <fcntl.h>
#include <infiniband/verbs.h>

int open_and_close(struct ibv_context *context);

__attribute__((visibility("default"))) int open_and_close(struct ibv_context *context)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(context, -1, O_CREAT);

	return !domain || domain->context != context || ibv_close_xrc_domain(domain);
}
