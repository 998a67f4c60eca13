/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The layouts that libmlx5 shares with a ConnectX-5: work queue entries and completions. */
#ifndef SOFTHCA_MLX5_FMT_H
#define SOFTHCA_MLX5_FMT_H

#include "model.h"

#define MLX5_WQE_SHIFT 6u /* a send queue consists of units of 64 bytes */
#define MLX5_CQE_SIZE  64u

/* Units of the send WQE that begins with this one. */
uint32_t mlx5_wqe_units(const uint8_t *unit);

/* As model->parse_wqe. */
int mlx5_parse_wqe(const uint8_t *bytes, size_t size, enum ibv_qp_type type, struct wqe *wqe);

/* As model->build_cqe: an entry of 128 bytes has the completion in its second half. */
void mlx5_build_cqe(const struct cqe *cqe, const struct cqe_format *format,
		    uint8_t out[CQE_MAX_BYTES]);

#endif
