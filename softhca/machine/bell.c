/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Doorbells in a context's page. */
#include "bell.h"

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
