/* SPDX-License-Identifier: GPL-2.0-only */
/* Where ib_core's driver interface differs between the kernels that the lab boots (5.10 to 7.2): here and nowhere else. */
#ifndef XRC_LAB_API_H
#define XRC_LAB_API_H

#include <linux/version.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#define KERNEL_FROM(major, minor) (LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0))

#if KERNEL_FROM(5, 13)
typedef u32 port_number;
#else
typedef u8 port_number;
#endif

/* Since 6.11 the call that makes a CQ gets all attributes, of which the driver's own are one. */
#if KERNEL_FROM(6, 11)
#define CREATE_CQ_ARGUMENT struct uverbs_attr_bundle *argument
#define CREATE_CQ_UDATA(argument) (&(argument)->driver_udata)
#else
#define CREATE_CQ_ARGUMENT struct ib_udata *argument
#define CREATE_CQ_UDATA(argument) (argument)
#endif

/* What resizes a CQ. */
#if KERNEL_FROM(7, 0)
typedef unsigned int cq_entries;
#define RESIZE_CQ_OPERATION resize_user_cq
#else
typedef int cq_entries;
#define RESIZE_CQ_OPERATION resize_cq
#endif

#if KERNEL_FROM(7, 0)
#define HAVE_UMEM_GET_VA
#endif

static inline struct ib_umem *umem_get(struct ib_device *device, u64 at, size_t size, int access)
{
#ifdef HAVE_UMEM_GET_VA
	return ib_umem_get_va(device, at, size, access);
#else
	return ib_umem_get(device, at, size, access);
#endif
}

#endif
