/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What libmlx5 appends to commands, and what the mlx5 driver makes of it. As the members of struct
 * model.
 */
#ifndef SOFTHCA_MLX5_CMD_H
#define SOFTHCA_MLX5_CMD_H

#include "model.h"

#define MLX5_MAX_SQ_BYTES 1024u	 /* of a send WQE */
#define MLX5_MAX_RQ_BYTES 512u	 /* of a receive WQE */
#define MLX5_MAX_QUEUE	  32768u /* units of a send queue, WQEs of a receive queue or an SRQ */

int mlx5_context(const void *in, size_t size, int ports, const struct limits *limits,
		 struct driver_part *out, uint8_t *cqe_version);
void mlx5_device_caps(struct driver_part *out);
void mlx5_answer_ah(const uint8_t mac[6], struct driver_part *out);
int mlx5_take_cq(const void *in, size_t size, struct cq_place *place);
int mlx5_take_resize(const void *in, size_t size, struct cq_place *place);
int mlx5_take_srq(const void *in, size_t size, bool xrc, uint8_t cqe_version,
		  struct srq_place *place);
int mlx5_take_qp(const void *in, size_t size, enum ibv_qp_type type, bool shared,
		 uint8_t cqe_version, const struct limits *limits, struct qp_caps *caps,
		 struct qp_rings *rings);

#endif
