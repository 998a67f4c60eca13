/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The attributes of a QP, from the old struct to today's and back. */
#ifndef COMPAT_ATTR_H
#define COMPAT_ATTR_H

#include <abi/legacy.h>

#include <string.h>

/* The library copies the size of the old struct, which must fit into today's. */
_Static_assert(sizeof(struct legacy_qp_attr) < sizeof(struct ibv_qp_attr),
	       "the old struct is not shorter than today's");

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

#endif
