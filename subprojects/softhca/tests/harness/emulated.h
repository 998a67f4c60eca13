/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Differences between the two adapters that softhca emulates. SOFTHCA_MODEL names the adapter. */
#ifndef HARNESS_EMULATED_H
#define HARNESS_EMULATED_H

#include <dlfcn.h>
#include <infiniband/verbs.h>
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

/* The bit that mlx4 sets in the number of every target QP, and in no other. */
static inline uint32_t emulated_target_tag(void)
{
	return emulated_is_mlx5() ? 0 : 0x800000;
}

/*
 * wc.src_qp of a message that a target QP received: on mlx4 the SRQ's number; on mlx5, whose
 * completions have no field for that, the sender's QP number.
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

/*
 * What a query returns of max_rd_atomic or max_dest_rd_atomic: the drivers store the logarithm,
 * rounded up.
 */
static inline uint8_t emulated_rd_atomic(uint8_t requested)
{
	uint8_t kept = 1;

	while (kept < requested)
		kept = (uint8_t)(kept * 2);
	return kept;
}

/*
 * Destroys an opened handle in a program of today. For a handle from ibv_open_qp, ibv_destroy_qp of
 * libmlx5 crashes.
 */
static inline int emulated_destroy_opened(struct ibv_qp *qp)
{
	int (*command)(struct ibv_qp *qp) = NULL;

	if (emulated_is_mlx5())
		command = (int (*)(struct ibv_qp *))dlsym(RTLD_DEFAULT, "ibv_cmd_destroy_qp");
	return command ? command(qp) : ibv_destroy_qp(qp);
}

#endif
