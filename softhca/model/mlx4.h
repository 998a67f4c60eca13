/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What libmlx4 shares with a ConnectX-3: work queue entries, completions, its part of commands.
 */
#ifndef SOFTHCA_MLX4_H
#define SOFTHCA_MLX4_H

#include "model.h"

/* ---- layouts (mlx4_fmt.c) ---- */

#define MLX4_CQE_SIZE 32u

/*
 * True if the first word of the slot says that the program has filled it in this turn of the ring.
 */
bool mlx4_wqe_valid(uint32_t first_word_be, uint32_t index, uint32_t count);

/* As model->parse_wqe and model->build_cqe. */
int mlx4_parse_wqe(const uint8_t *slot, size_t size, enum ibv_qp_type type, struct wqe *wqe);
void mlx4_build_cqe(const struct cqe *cqe, const struct cqe_format *format,
		    uint8_t out[CQE_MAX_BYTES]);

/* ---- the provider's part of commands, as the members of struct model (mlx4_cmd.c) ---- */

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
