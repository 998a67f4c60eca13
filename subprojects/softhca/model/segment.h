/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Segments of work requests, the same in all ConnectX rings. */
#ifndef SOFTHCA_SEGMENT_H
#define SOFTHCA_SEGMENT_H

#include "model.h"

#define SEGMENT_BYTES	     16u
#define SEGMENT_INLINE	     0x80000000u /* in the first word: bytes follow, not an address */
#define SEGMENT_RESERVED_KEY 0x100u	 /* ends the scatter list of a receive WQE */

/*
 * The data of a send request: entries and inline bytes, from @at to the end. A message is inline as
 * a whole or not at all. Sets sges, inline_length and length. 0 or -EINVAL.
 */
int segment_parse_data(const uint8_t *at, size_t left, struct wqe *wqe);

/* The remote address of RDMA and atomics. Bytes taken; -EINVAL also for an unknown opcode. */
int segment_parse_remote(const uint8_t *at, size_t left, struct wqe *wqe);

/* Scatter list of a receive WQE: @bytes of data segments. Number of entries. */
uint32_t segment_parse_scatter(const uint8_t *segments, size_t bytes, struct sge sge[WQE_MAX_SGE]);

/*
 * A power of two: bytes of an SRQ's WQE with @max_sge entries. Its scatter list comes after a
 * header, with the index of the next WQE 2 bytes into it.
 */
#define SEGMENT_SRQ_HEADER 16u
uint32_t segment_srq_stride(uint32_t max_sge);

#endif
