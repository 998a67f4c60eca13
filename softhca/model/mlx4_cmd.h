/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What libmlx4 appends to commands, and what the mlx4 driver makes of it. As the members of struct
 * model.
 */
#ifndef SOFTHCA_MLX4_CMD_H
#define SOFTHCA_MLX4_CMD_H

#include "model.h"

int mlx4_context(const void *in, size_t size, int ports, const struct limits *limits,
		 struct driver_part *out, uint8_t *cqe_version);
void mlx4_device_caps(struct driver_part *out);
int mlx4_take_cq(const void *in, size_t size, struct cq_place *place);
int mlx4_take_resize(const void *in, size_t size, struct cq_place *place);
int mlx4_take_srq(const void *in, size_t size, bool xrc, uint8_t cqe_version,
		  struct srq_place *place);
int mlx4_take_qp(const void *in, size_t size, enum ibv_qp_type type, bool shared,
		 uint8_t cqe_version, const struct limits *limits, struct qp_caps *caps,
		 struct qp_rings *rings);

#endif
