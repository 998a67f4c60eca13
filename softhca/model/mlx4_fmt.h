/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The layouts that libmlx4 shares with a ConnectX-3: work queue entries, completions, ring
 * geometry.
 */
#ifndef SOFTHCA_MLX4_FMT_H
#define SOFTHCA_MLX4_FMT_H

#include "work.h"

#define MLX4_CQE_SIZE	 32u
#define MLX4_SRQ_HEADER	 16u

/*
 * True if the first word of the slot says that the program has filled it in this turn of the ring.
 */
bool mlx4_wqe_valid(uint32_t first_word_be, uint32_t index, uint32_t count);

/* As model->parse_wqe; @datagram = a UD queue, which has an address segment. */
int mlx4_parse_wqe(const uint8_t *slot, size_t size, bool datagram, struct wqe *wqe);

/* @turn = producer index & ring size: the owner bit. */
void mlx4_build_cqe(const struct cqe *cqe, bool turn, uint8_t out[MLX4_CQE_SIZE]);

/* Powers of two: bytes per receive WQE of @max_sge entries; bytes per SRQ WQE with its header. */
uint32_t mlx4_rq_stride(uint32_t max_sge);
uint32_t mlx4_srq_stride(uint32_t max_sge);

#endif
