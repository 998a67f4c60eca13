/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The QP numbers that the program knows: of its ordinary QPs, its initiators and its receive QPs.
 *
 * In a two-way program every other receive completion is of a hidden target, of this process or of another one that delivers
 * to an SRQ of ours (MVAPICH 1.x). Only mlx4 marks the numbers of targets, and there receive QPs have the mark, too.
 *
 * No call here takes a lock or waits.
 */
#ifndef COMPAT_QP_NUMBERS_H
#define COMPAT_QP_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/* QP numbers have 24 bits. */
#define QP_NUMBERS (1u << 24)

/** qp_number_add - a QP was created. qp_number_remove - one was destroyed; if its number is a new QP's already, both count. */
void qp_number_add(const struct ibv_context *context, uint32_t qp_num);
void qp_number_remove(const struct ibv_context *context, uint32_t qp_num);

/** qp_number_hide - the number is now a hidden target's. */
void qp_number_hide(const struct ibv_context *context, uint32_t qp_num);

/** qp_numbers_of - for qp_number_is_known(): where the numbers of a device are counted. NULL: no memory. */
struct qp_numbers {
	const unsigned char *counts;
	uint32_t offset;
};

int qp_numbers_of(const struct ibv_context *context, struct qp_numbers *numbers);

/* On the data path: the plain load of a byte, which is as atomic as any and lets the compiler test it in memory. */
static inline __attribute__((no_sanitize("thread"))) bool qp_number_is_known(const unsigned char *counts, uint32_t offset,
									     uint32_t qp_num)
{
	return counts[(qp_num + offset) % QP_NUMBERS];
}

#endif
