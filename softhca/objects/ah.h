/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Address handles that the kernel knows. Their providers know more of them. */
#ifndef SOFTHCA_AH_H
#define SOFTHCA_AH_H

#include <softhca/machine/hca.h>

/* NULL without memory. */
struct hca_ah *ah_create(struct hca_pd *pd);

#endif
