/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Attributes of a QP between the two worlds. An old struct is shorter than today's: only its own size is ever copied.
 */
#ifndef COMPAT_ATTR_H
#define COMPAT_ATTR_H

#include <string.h>

#include <abi/legacy.h>

_Static_assert(sizeof(struct legacy_qp_attr) < sizeof(struct ibv_qp_attr), "today's struct has grown at its end");

static inline struct ibv_qp_attr attr_from_legacy(const struct legacy_qp_attr *lattr)
{
	struct ibv_qp_attr attr = { 0 };

	memcpy(&attr, lattr, sizeof(*lattr));
	return attr;
}

static inline void attr_to_legacy(const struct ibv_qp_attr *attr, struct legacy_qp_attr *lattr)
{
	memcpy(lattr, attr, sizeof(*lattr));
}

/*
 * The ports of the address vectors in attr: the QP's own and the alternate path's. OFED's mlx4 never looked at those of
 * the vectors themselves, and MVAPICH2 1.7 leaves them 0; kernels since 3.14 compare them.
 * @port: the QP's, which it got in an earlier call unless mask has it.
 */
static inline void attr_fill_ports(struct ibv_qp_attr *attr, int mask, uint8_t port)
{
	if (mask & IBV_QP_AV)
		attr->ah_attr.port_num = mask & IBV_QP_PORT ? attr->port_num : port;
	if (mask & IBV_QP_ALT_PATH)
		attr->alt_ah_attr.port_num = attr->alt_port_num;
}

#endif
