/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads and writes the programs' memory. */
#include "mem.h"
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* Small enough to stay in the cache between its two copies. */
#define BOUNCE ((size_t)128 << 10)

int mem_read(const struct hca_context *ctx, void *to, struct place from, size_t length)
{
	if (!from.shared)
		return client_read(&ctx->client, to, from.address, length);
	memcpy(to, from.shared, length);
	return 0;
}

int mem_write(const struct hca_context *ctx, struct place to, const void *from, size_t length)
{
	if (!to.shared)
		return client_write(&ctx->client, to.address, from, length);
	memcpy(to.shared, from, length);
	return 0;
}

int mem_fill(const struct hca_context *ctx, struct place to, uint8_t byte, size_t length)
{
	uint8_t block[4096];

	memset(block, byte, sizeof(block));
	while (length) {
		size_t part = length < sizeof(block) ? length : sizeof(block);

		if (mem_write(ctx, to, block, part))
			return -EFAULT;
		to = place_at(to, part);
		length -= part;
	}
	return 0;
}

int mem_load32(const struct hca_context *ctx, struct place from, uint32_t *word)
{
	if (!from.shared)
		return client_read(&ctx->client, word, from.address, sizeof(*word));
	*word = __atomic_load_n((uint32_t *)(void *)from.shared, __ATOMIC_ACQUIRE);
	return 0;
}

int mem_load32_many(const struct hca_context *ctx, const struct place *from, uint32_t *words,
		    size_t count)
{
	struct iovec local = { words, count * sizeof(words[0]) };
	struct iovec theirs[MEM_WORDS];

	/* Only the first is looked at: either way reads all of them, shared or not. */
	if (count == 1 || from[0].shared) {
		for (size_t i = 0; i < count; i++) {
			if (mem_load32(ctx, from[i], &words[i]))
				return -EFAULT;
		}
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		theirs[i] = (struct iovec){ (void *)(uintptr_t)from[i].address, sizeof(words[0]) };
	return process_read(ctx->client.pid, &local, theirs, count) == (ssize_t)local.iov_len
		       ? 0
		       : -EFAULT;
}

int mem_write_cqe(const struct hca_context *ctx, struct place to, const uint8_t *cqe, size_t size)
{
	const size_t body = size - sizeof(uint32_t);
	uint32_t last;

	if (!to.shared) {
		/* The kernel copies piece after piece. */
		struct iovec local = { (void *)cqe, size };
		struct iovec theirs[2] = {
			{ (void *)(uintptr_t)to.address, body },
			{ (void *)(uintptr_t)(to.address + body), sizeof(last) }
		};

		return process_write(ctx->client.pid, &local, theirs, 2) == (ssize_t)size
			       ? 0
			       : -EFAULT;
	}
	memcpy(&last, cqe + body, sizeof(last));
	memcpy(to.shared, cqe, body);
	__atomic_store_n((uint32_t *)(void *)(to.shared + body), last, __ATOMIC_RELEASE);
	return 0;
}

bool mem_gone(const struct hca_context *ctx)
{
	struct pollfd end = { .fd = ctx->client.pidfd, .events = POLLIN };

	/* The memory of a process goes before its end is reported. */
	return ctx->client.dead || poll(&end, 1, 0) > 0 || !process_thread(ctx->client.pid);
}

/* ---- payload ---- */

void mem_vec_init(struct mem_vec *vec, const struct hca_context *ctx)
{
	vec->ctx = ctx;
	vec->count = vec->at = 0;
	vec->offset = 0;
	vec->before = 0;
}

void mem_vec_add(struct mem_vec *vec, uint64_t address, size_t length)
{
	if (!length || vec->count == WQE_MAX_SGE)
		return;
	vec->piece[vec->count].iov_base = (void *)(uintptr_t)address;
	vec->piece[vec->count].iov_len = length;
	vec->count++;
}

void mem_vec_seek(struct mem_vec *vec, uint64_t offset)
{
	vec->at = 0;
	offset -= vec->before;
	while (vec->at < vec->count && offset >= vec->piece[vec->at].iov_len)
		offset -= vec->piece[vec->at++].iov_len;
	vec->offset = (size_t)offset;
}

/* The next @length bytes of @vec as pieces of their own; moves its position. Number of pieces. */
static unsigned int take(struct mem_vec *vec, size_t length, struct iovec out[WQE_MAX_SGE])
{
	unsigned int count = 0;

	while (length && vec->at < vec->count) {
		struct iovec *piece = &vec->piece[vec->at];
		size_t part = piece->iov_len - vec->offset;

		if (part > length)
			part = length;
		out[count].iov_base = (char *)piece->iov_base + vec->offset;
		out[count++].iov_len = part;
		length -= part;
		vec->offset += part;
		if (vec->offset == piece->iov_len) {
			vec->at++;
			vec->offset = 0;
		}
	}
	return count;
}

static bool transfer(struct mem_vec *vec, bool write, uint8_t *bounce, size_t length)
{
	struct iovec theirs[WQE_MAX_SGE];
	struct iovec local = { bounce, length };
	unsigned int count = take(vec, length, theirs);
	ssize_t done = 0;

	if (vec->ctx) {
		done = write ? process_write(vec->ctx->client.pid, &local, theirs, count)
			     : process_read(vec->ctx->client.pid, &local, theirs, count);
		return done >= 0 && (size_t)done == length;
	}
	for (unsigned int i = 0; i < count; i++) {
		memcpy(write ? theirs[i].iov_base : bounce + done,
		       write ? bounce + done : theirs[i].iov_base, theirs[i].iov_len);
		done += (ssize_t)theirs[i].iov_len;
	}
	return (size_t)done == length;
}

/* The next @length bytes, which the position passes, if they are the daemon's and in one piece. */
static uint8_t *here(struct mem_vec *vec, size_t length)
{
	struct iovec piece[WQE_MAX_SGE];

	if (vec->ctx || vec->at == vec->count || vec->piece[vec->at].iov_len - vec->offset < length)
		return NULL;
	take(vec, length, piece);
	return piece[0].iov_base;
}

enum mem_result mem_copy(struct mem_vec *target, struct mem_vec *source, uint64_t length)
{
	static uint8_t bounce[BOUNCE]; /* one thread serves */

	while (length) {
		size_t part = length < BOUNCE ? (size_t)length : BOUNCE;
		uint8_t *from = here(source, part), *to = from ? NULL : here(target, part);
		uint8_t *via = from ? from : to ? to : bounce;

		if (!from && !transfer(source, false, via, part))
			return MEM_BAD_SOURCE;
		if (!to && !transfer(target, true, via, part))
			return MEM_BAD_TARGET;
		length -= part;
	}
	return MEM_OK;
}

/* ---- doorbells ---- */

/* A 32-bit program writes a 64-bit doorbell in two halves. Either half counts. */
bool bell_rings(const struct hca_context *ctx, const struct bell *bell)
{
	const void *at = ctx->uar + bell->at;

	if (bell->bytes == sizeof(uint32_t))
		return __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
	return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
}

bool bell_take(struct hca_context *ctx, const struct bell *bell)
{
	void *at = ctx->uar + bell->at;

	if (!bell_rings(ctx, bell))
		return false;
	if (bell->bytes == sizeof(uint32_t))
		return __atomic_exchange_n((uint32_t *)at, 0, __ATOMIC_ACQ_REL);
	return __atomic_exchange_n((uint64_t *)at, 0, __ATOMIC_ACQ_REL);
}
