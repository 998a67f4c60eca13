/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A provider without hardware: its receive QPs are memory only. */

#include <stdlib.h>

#include <modern/modern.h>
#include <modern/table.h>

#include "provider.h"

static struct ibv_device device = { .name = "fake_0" };
static struct ibv_xrcd xrcd;
uint32_t provider_next_qp = 0x40;

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

int (*provider_closes_xrcd)(void);

static int close_xrcd(struct ibv_xrcd *closed)
{
	(void)closed;
	return provider_closes_xrcd ? provider_closes_xrcd() : 0;
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
	return new_qp(context, __atomic_fetch_add(&provider_next_qp, 1, __ATOMIC_RELAXED),
		      attr->qp_context);
}

struct ibv_qp *provider_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = new_qp(pd->context, provider_next_qp++, attr->qp_context);

	qp->qp_type = attr->qp_type;
	return qp;
}

static int uverbs_open_qp(struct ibv_xrcd *of, struct ibv_qp *qp)
{
	(void)of;
	(void)qp;
	return 0;
}

void (*provider_queries)(struct ibv_qp *handle);

static int uverbs_query_qp(struct ibv_qp *handle, struct ibv_qp_attr *attr,
			   struct ibv_qp_init_attr *init_attr)
{
	(void)attr;
	(void)init_attr;
	if (provider_queries)
		provider_queries(handle);
	return 0;
}

static int uverbs_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

int provider_destroy_qp(struct ibv_qp *qp)
{
	free(qp);
	return 0;
}

static int close_device(struct ibv_context *context)
{
	(void)context;
	return 0;
}

struct ibv_context *provider_open(unsigned n)
{
	static struct verbs_context opened[2];

	if (modern_load())
		return NULL;
	modern_table.close_device = close_device;
	modern_table.create_qp = provider_create_qp;
	modern_table.destroy_qp = provider_destroy_qp;
	modern_table.uverbs_open_qp = uverbs_open_qp;
	modern_table.uverbs_query_qp = uverbs_query_qp;
	modern_table.uverbs_destroy_qp = uverbs_destroy_qp;
	modern_table.get_device_guid = get_device_guid;
	opened[n] = (struct verbs_context){
		.sz = sizeof(opened[n]), .open_xrcd = open_xrcd, .close_xrcd = close_xrcd,
		.create_qp_ex = create_qp_ex,
		.context = { .abi_compat = __VERBS_ABI_IS_EXTENDED, .device = &device },
	};
	xrcd.context = &opened[n].context;
	return &opened[n].context;
}
