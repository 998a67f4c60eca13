/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Constants that older kernel headers do not have. meson.build defines HAVE_NAME for those of
 * <rdma> that the installed headers have. softhca is not built with headers older than Linux 5.8.
 */
#ifndef SOFTHCA_KERNEL_H
#define SOFTHCA_KERNEL_H

#include <sys/syscall.h>

/* Linux 5.3. <sys/syscall.h> may be of an older kernel than the other headers. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#ifndef HAVE_IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION /* Linux 5.9 */
enum { IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION = 1 << 0 };
#endif

#ifndef HAVE_RDMA_NLDEV_CMD_RES_SRQ_GET /* Linux 5.13 */
enum {
	RDMA_NLDEV_CMD_RES_CTX_GET = 22,
	RDMA_NLDEV_CMD_RES_SRQ_GET = 23,
};

enum {
	RDMA_NLDEV_ATTR_RES_CTX = 86,
	RDMA_NLDEV_ATTR_RES_CTX_ENTRY = 87,
	RDMA_NLDEV_ATTR_RES_SRQ = 88,
	RDMA_NLDEV_ATTR_RES_SRQ_ENTRY = 89,
	RDMA_NLDEV_ATTR_RES_SRQN = 90,
	RDMA_NLDEV_ATTR_MIN_RANGE = 91,
	RDMA_NLDEV_ATTR_MAX_RANGE = 92,
	RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK = 93,
};
#endif

#ifndef HAVE_IB_UVERBS_DEVICE_XRC /* Linux 6.0; bits of ibv_device_attr.device_cap_flags */
enum {
	IB_UVERBS_DEVICE_BAD_PKEY_CNTR = 1 << 1,
	IB_UVERBS_DEVICE_BAD_QKEY_CNTR = 1 << 2,
	IB_UVERBS_DEVICE_AUTO_PATH_MIG = 1 << 4,
	IB_UVERBS_DEVICE_CURR_QP_STATE_MOD = 1 << 7,
	IB_UVERBS_DEVICE_SHUTDOWN_PORT = 1 << 8,
	IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT = 1 << 10,
	IB_UVERBS_DEVICE_SYS_IMAGE_GUID = 1 << 11,
	IB_UVERBS_DEVICE_RC_RNR_NAK_GEN = 1 << 12,
	IB_UVERBS_DEVICE_XRC = 1 << 20,
};
#endif

#endif
