/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The programs' memory: rings and doorbell records, payload, doorbell pages. */
#ifndef SOFTHCA_MEM_H
#define SOFTHCA_MEM_H

#include "hca.h"

#include <sys/uio.h>

/* 0 or -EFAULT. */
int mem_read(const struct hca_context *ctx, void *to, struct place from, size_t length);
int mem_write(const struct hca_context *ctx, struct place to, const void *from, size_t length);
int mem_fill(const struct hca_context *ctx, struct place to, uint8_t byte, size_t length);

/* A word as it lies there (big endian). What the client wrote before it is visible then. */
int mem_load32(const struct hca_context *ctx, struct place from, uint32_t *word);

/* Reads several words, by one system call if they are in the process. 0 or -EFAULT. */
#define MEM_WORDS 64u
int mem_load32_many(const struct hca_context *ctx, const struct place *from, uint32_t *words,
		    size_t count);

/* A completion: its last word, which makes it valid, appears after all others. */
int mem_write_cqe(const struct hca_context *ctx, struct place to, const uint8_t *cqe, size_t size);

/* -EFAULT unless the whole range is mapped in the client, readable and, if asked, writable. */
int mem_check_range(const struct hca_context *ctx, uint64_t start, uint64_t length, bool writable);

/* Whether the process has ended or is about to, which the daemon is told a little later. */
bool mem_gone(const struct hca_context *ctx);

/* ---- payload ---- */

/* Where the bytes of one message lie; ctx NULL = in the daemon (inline data). */
struct mem_vec {
	const struct hca_context *ctx;
	unsigned int count, at; /* pieces; the current one */
	size_t offset;		/* in the current one */
	uint64_t before; /* bytes of the message before the first piece */
	struct iovec piece[WQE_MAX_SGE];
};

void mem_vec_init(struct mem_vec *vec, const struct hca_context *ctx);
void mem_vec_add(struct mem_vec *vec, uint64_t address, size_t length);

/* The position becomes @offset in the message, which is not before the first piece. */
void mem_vec_seek(struct mem_vec *vec, uint64_t offset);

enum mem_result { MEM_OK, MEM_BAD_SOURCE, MEM_BAD_TARGET };

/* Moves @length bytes and both positions with them. */
enum mem_result mem_copy(struct mem_vec *target, struct mem_vec *source, uint64_t length);

/* ---- doorbells: a program writes a word other than 0 when it has posted work ---- */

/* Whether the bell has rung since it was taken. */
bool bell_rings(const struct hca_context *ctx, const struct bell *bell);

/* The same, and takes it. All that the program wrote before the doorbell is then visible. */
bool bell_take(struct hca_context *ctx, const struct bell *bell);

#endif
