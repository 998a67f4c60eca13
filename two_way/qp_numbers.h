/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The QP numbers that the program knows: of its ordinary QPs, its initiators and its receive QPs.
 *
 * In a two-way program a receive completion with any other number counts as a hidden target's. That
 * target belongs to this process, or to another one and delivers to an SRQ of this one (MVAPICH
 * 1.x). Only mlx4 tags the numbers of targets, those of receive QPs as well.
 *
 * No call here takes a lock of this library.
 */
#ifndef TWO_WAY_QP_NUMBERS_H
#define TWO_WAY_QP_NUMBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define QP_NUMBERS (1u << 24)	/* they have 24 bits */

/*
 * A QP was created, or destroyed. A reused number counts twice. Only a two-way program counts: only
 * there is poll_cq hooked.
 */
void qp_number_add(const struct ibv_context *context, uint32_t qp_num);
void qp_number_remove(const struct ibv_context *context, uint32_t qp_num);

/* The number is now a hidden target's. */
void qp_number_hide(const struct ibv_context *context, uint32_t qp_num);

/*
 * The counts of a device's numbers. One byte for each number is fastest for poll_cq. A job touches
 * one or two of the pages.
 */
struct qp_numbers {
	const struct ibv_device *device;
	struct qp_numbers *next;
	atomic_uchar count[QP_NUMBERS];
};

/* Returns where the numbers of a device are counted. NULL: no memory. */
struct qp_numbers *qp_numbers_of(const struct ibv_context *context);

/* On the data path. A plain load of a byte is atomic; the compiler can test it in memory. */
static inline __attribute__((no_sanitize("thread")))
bool qp_is_known(const struct qp_numbers *numbers, uint32_t qp_num)
{
	return ((const unsigned char *)numbers->count)[qp_num % QP_NUMBERS];
}

#endif
