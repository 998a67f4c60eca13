/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The layouts that libmlx4 shares with a ConnectX: work queue entries, completions, ring geometry. Nobody else knows them. */
#ifndef SOFTHCA_MLX4_FMT_H
#define SOFTHCA_MLX4_FMT_H

#include "work.h"

#define MLX4_CQE_SIZE	  32u
#define MLX4_CQE_RESIZE	  0x16u
#define MLX4_CQE_PRESET	  0xcc /* fills an entry that is not valid in an even turn of the ring: owner bit set */
#define MLX4_CQE_PRESET_ODD 0x4c /* not valid in an odd turn */
#define MLX4_RESERVED_KEY 0x100u /* ends the scatter list of a receive WQE */
#define MLX4_XRC_TARGET	  (1u << 23) /* in the number of every XRC target QP */

#define MLX4_UAR_SEND	0x14 /* be32: any QP of the context has new work */
#define MLX4_UAR_ARM	0x20 /* be64: any CQ of the context was armed */

/* True if the first word of the slot says that the program has filled it in this turn of the ring. */
bool mlx4_wqe_valid(uint32_t first_word_be, uint32_t index, uint32_t count);

/*
 * Reads a send WQE out of a private copy of its slot. @datagram = a UD queue, which has an address segment.
 * 0; -EINVAL for one that no hardware could execute (its completion is a local QP operation error). opcode, signalled
 * and imm are set in either case.
 */
int mlx4_parse_wqe(const uint8_t *slot, size_t size, bool datagram, struct wqe *wqe);

/* Scatter list of a receive WQE: @bytes of data segments. Number of entries. */
uint32_t mlx4_parse_scatter(const uint8_t *segments, size_t bytes, struct sge sge[WQE_MAX_SGE]);

/* @turn = producer index & ring size: the owner bit. */
void mlx4_build_cqe(const struct cqe *cqe, bool turn, uint8_t out[MLX4_CQE_SIZE]);

/* Powers of two: bytes per receive WQE of @max_sge entries; bytes per SRQ WQE, which begins with a 16 byte header. */
uint32_t mlx4_rq_stride(uint32_t max_sge);
uint32_t mlx4_srq_stride(uint32_t max_sge);
uint32_t mlx4_pow2(uint32_t value);

#define MLX4_SRQ_HEADER 16u

#endif
