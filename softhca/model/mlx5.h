/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What libmlx5 shares with a ConnectX-5: work queue entries, completions, its part of commands.
 */
#ifndef SOFTHCA_MLX5_H
#define SOFTHCA_MLX5_H

#include "model.h"

/* ---- layouts (mlx5_fmt.c) ---- */

#define MLX5_WQE_SHIFT 6u /* a send queue consists of units of 64 bytes */
#define MLX5_CQE_SIZE  64u

/* Units of the send WQE that begins with this one. */
uint32_t mlx5_wqe_units(const uint8_t *unit);

/* As model->parse_wqe. */
int mlx5_parse_wqe(const uint8_t *bytes, size_t size, enum ibv_qp_type type, struct wqe *wqe);

/* As model->build_cqe: an entry of 128 bytes has the completion in its second half. */
void mlx5_build_cqe(const struct cqe *cqe, const struct cqe_format *format,
		    uint8_t out[CQE_MAX_BYTES]);

/* ---- the provider's part of commands, as the members of struct model (mlx5_cmd.c) ---- */

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
