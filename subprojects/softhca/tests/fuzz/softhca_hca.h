/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An emulated HCA in the fuzzer's own process, and a client process whose memory the HCA may
 * overwrite.
 */
#ifndef SOFTHCA_TESTS_FUZZ_SOFTHCA_HCA_H
#define SOFTHCA_TESTS_FUZZ_SOFTHCA_HCA_H

#include <proto.h>
#include <qp/qp.h>

#include <stddef.h>
#include <stdint.h>

#define ARENA_BASE 0x200000000000ull /* a multiple of its size, no shadow of AddressSanitizer */
#define ARENA_SIZE (1u << 20)
#define ARENA_PAGES (int)(ARENA_SIZE / SOFTHCA_PAGE)
#define SCRATCH_SIZE 65536u

struct fuzz_hca {
	struct hca_machine machine;
	struct hca_context *ctx; /* on device 0 */
	uint8_t *arena;		 /* ARENA_SIZE bytes at ARENA_BASE */
	uint64_t scratch;	 /* SCRATCH_SIZE bytes that the client really has */
	uint64_t now;		 /* nanoseconds; each look at the clock adds 1000 */
};

/* The machine that sends the messages, a third machine, and the LID of each. */
enum { FUZZ_FAR = 1, FUZZ_THIRD };
#define fuzz_lid(hca, place) ((hca)->machine.wire[place].port[1].lid)

/* Resets the machine, and opens one context on it. */
struct fuzz_hca *fuzz_hca_begin(void);

/*
 * Gives a message of the other machine to its handler, in a block of its own, so that
 * AddressSanitizer sees reads behind its end (softhca_net.c).
 */
void fuzz_deliver(void (*handler)(int, const void *, size_t), const void *bytes, size_t length);

/* Bytes of each machine's address, and the last machine that has told its own. */
#define FUZZ_ADDRESS 16
extern int fuzz_reached;

/* Bytes of the last message that went to the other machine. */
extern size_t fuzz_sent;

struct input;

/*
 * A request for the QP, and one that repeats it if it was an atomic (softhca_far.c). @rkey opens
 * the client's memory, and @srqn is the number of an XRC SRQ.
 */
void fuzz_request(const struct fuzz_hca *hca, struct input *input, const struct hca_qp *qp,
		  uint32_t rkey, uint32_t srqn);

/* An answer to a piece of the QP that another machine has not answered. */
void fuzz_answer(const struct fuzz_hca *hca, struct input *input, const struct hca_qp *qp);

/* Lets the HCA work. */
void fuzz_hca_turn(struct fuzz_hca *hca);

/* Ends the context. Aborts if an object is left over, because then the HCA has leaked it. */
void fuzz_hca_end(struct fuzz_hca *hca);

/* Aborts with @what unless @good. */
void must(bool good, const char *what);

/*
 * Counts an attempt, and whether the HCA accepted it. After 1000 attempts or more the program fails
 * at its end if the HCA accepted less than a tenth: then the inputs no longer fit the commands.
 * softhca_commands.c needs no count, because all commands of its seeds must be accepted.
 */
void count_accepted(bool good);

/* ---- the input, byte by byte; zeroes after its end ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

uint32_t take(struct input *input, size_t bytes); /* 1, 2 or 4 */
void take_bytes(struct input *input, void *to, size_t length);

#endif
