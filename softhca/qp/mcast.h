/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Multicast groups: which QPs of a device get what is sent to one. */
#ifndef SOFTHCA_MCAST_H
#define SOFTHCA_MCAST_H

#include <softhca/machine/hca.h>

/*
 * Attached twice is attached once. 0; -EINVAL for a QP or a name that cannot be; -ENOMEM when the
 * device, or the group, is full.
 */
int mcast_attach(struct hca_qp *qp, const uint8_t gid[16], uint16_t lid);

/* 0, or -EINVAL when it is not attached. */
int mcast_detach(struct hca_qp *qp, const uint8_t gid[16], uint16_t lid);

/* The QP goes. */
void mcast_detach_all(struct hca_qp *qp);

/* NULL when no QP of the device is attached. */
struct hca_group *mcast_find(const struct hca_device *device, const uint8_t gid[16],
				   uint16_t lid);

#endif
