/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An emulated HCA in the fuzzer's own process, and a client process whose memory the HCA may
 * overwrite.
 */
#ifndef SOFTHCA_TESTS_FUZZ_SOFTHCA_STAGE_H
#define SOFTHCA_TESTS_FUZZ_SOFTHCA_STAGE_H

#include <softhca/machine/hca.h>

#include <stddef.h>
#include <stdint.h>

#define ARENA_BASE 0x100000000000ull /* as the client would see it */
#define ARENA_SIZE (1u << 20)
#define SCRATCH_SIZE 65536u

struct stage {
	struct hca_machine machine;
	struct hca_context *ctx; /* on device 0 */
	uint8_t *arena;		 /* what lies at ARENA_BASE for the HCA */
	uint64_t scratch;	 /* SCRATCH_SIZE bytes that the client really has */
};

/* Resets the machine, and opens one context on it. */
struct stage *stage_begin(void);

/* Lets the HCA work. */
void stage_turn(struct stage *stage);

/* Ends the context. Aborts if an object is left over, because then the HCA has leaked it. */
void stage_end(struct stage *stage);

/* ---- the input, byte by byte; zeroes after its end ---- */

struct input {
	const uint8_t *at;
	size_t left;
};

uint8_t take8(struct input *input);
uint16_t take16(struct input *input);
uint32_t take32(struct input *input);
void take_bytes(struct input *input, void *to, size_t length);

#endif
