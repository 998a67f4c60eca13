/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A provider without hardware: its receive QPs are memory only. */

#include <errno.h>
#include <stdlib.h>

#include <modern/modern.h>
#include <modern/table.h>

#include "provider.h"

static struct ibv_device device = { .name = "fake_0" };
static struct ibv_xrcd xrcd;
static uint32_t next_qp = 0x40;

static __be64 get_device_guid(struct ibv_device *of)
{
	(void)of;
	return 1;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	(void)context;
	(void)attr;
	return &xrcd;
}

static int close_xrcd(struct ibv_xrcd *closed)
{
	(void)closed;
	return 0;
}

static struct ibv_qp *new_qp(struct ibv_context *context, uint32_t qp_num, void *qp_context)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	qp->context = context;
	qp->qp_num = qp_num;
	qp->qp_context = qp_context;
	return qp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	return new_qp(context, __atomic_fetch_add(&next_qp, 1, __ATOMIC_RELAXED), attr->qp_context);
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	if (attr->qp_num <= 0xffffff)
		return new_qp(context, attr->qp_num, attr->qp_context);
	errno = EINVAL;		/* the library's question whether the kernel shares QPs: it does */
	return NULL;
}

static int destroy_qp(struct ibv_qp *qp)
{
	free(qp);
	return 0;
}

struct ibv_context *provider_open(unsigned n, bool shares)
{
	static struct verbs_context opened[2];

	if (modern_load())
		return NULL;
	modern_table.destroy_qp = destroy_qp;
	modern_table.get_device_guid = get_device_guid;
	opened[n] = (struct verbs_context){
		.sz = sizeof(opened[n]), .open_xrcd = open_xrcd, .close_xrcd = close_xrcd, .create_qp_ex = create_qp_ex,
		.open_qp = shares ? open_qp : NULL,
		.context = { .abi_compat = __VERBS_ABI_IS_EXTENDED, .device = &device },
	};
	xrcd.context = &opened[n].context;
	return &opened[n].context;
}
