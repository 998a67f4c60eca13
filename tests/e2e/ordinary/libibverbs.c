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

/* The shim looks these up. The program does not call them. */
#define NOTHING(name) \
	__asm__(".globl ibv_" #name "\n.set ibv_" #name ", ibv_destroy_qp")
NOTHING(modify_qp);
NOTHING(query_qp);
NOTHING(modify_srq);
NOTHING(query_srq);
NOTHING(destroy_srq);
NOTHING(get_async_event);
NOTHING(ack_async_event);
NOTHING(get_device_guid);
NOTHING(open_device);
NOTHING(close_device);
