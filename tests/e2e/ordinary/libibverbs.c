/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A libibverbs.so.1 whose verbs only count their calls, so that the cost of the functions in front
 * of them can be counted.
 */

#include <infiniband/verbs.h>

#define EXPORTED __attribute__((visibility("default")))

static struct ibv_device device;
static struct ibv_context context = { .device = &device };
EXPORTED unsigned long ibv_fake_calls;
static struct ibv_qp qp = { .context = &context, .qp_num = 0x77 };

EXPORTED struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	(void)pd;
	(void)attr;
	ibv_fake_calls++;
	return &qp;
}

EXPORTED int ibv_destroy_qp(struct ibv_qp *destroyed)
{
	(void)destroyed;
	ibv_fake_calls++;
	return 0;
}

/* Each counts its call and returns 0, as ibv_destroy_qp does. */
#define COUNTED(name) __asm__(".globl ibv_" #name "\n.set ibv_" #name ", ibv_destroy_qp")
COUNTED(modify_qp);
COUNTED(query_qp);
COUNTED(modify_srq);
COUNTED(query_srq);
COUNTED(destroy_srq);
COUNTED(get_async_event);
COUNTED(ack_async_event);
COUNTED(get_device_guid);
COUNTED(open_device);
COUNTED(close_device);
