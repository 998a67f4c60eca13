/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What tests must know of the adapter that softhca emulates: its model is in SOFTHCA_MODEL. */
#ifndef TESTS_EMULATED_H
#define TESTS_EMULATED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool emulated_is_mlx5(void)
{
	const char *model = getenv("SOFTHCA_MODEL");

	return model && !strcmp(model, "connectx5");
}

/* "mlx4_1" */
struct emulated_name {
	char text[16];
};

static inline struct emulated_name emulated_name(int device)
{
	struct emulated_name name;

	snprintf(name.text, sizeof(name.text), "mlx%d_%d", emulated_is_mlx5() ? 5 : 4, device);
	return name;
}

/* mlx4 marks the number of every target QP, and of no other. */
static inline uint32_t emulated_target_tag(void)
{
	return emulated_is_mlx5() ? 0 : 0x800000;
}

/*
 * wc.src_qp of what a target QP received: mlx4 puts the SRQ's number there, mlx5 the sender's QP number, for its completion has
 * no place for the former.
 */
static inline uint32_t emulated_src_qp(uint32_t srq_num, uint32_t sender)
{
	return emulated_is_mlx5() ? sender : srq_num;
}

/* mlx5 has no transition from RTS to SQD. */
static inline bool emulated_drains(void)
{
	return !emulated_is_mlx5();
}

/* What a query tells of max_rd_atomic or max_dest_rd_atomic: mlx5 keeps its logarithm. */
static inline uint8_t emulated_rd_atomic(uint8_t asked)
{
	uint8_t kept = 1;

	while (kept <= asked / 2)
		kept = (uint8_t)(kept * 2);
	return emulated_is_mlx5() ? kept : asked;
}

#endif
