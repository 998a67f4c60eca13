/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A work request as a provider writes it, for the tests of both formats. */
#ifndef TESTS_UNIT_SOFTHCA_WQE_BYTES_H
#define TESTS_UNIT_SOFTHCA_WQE_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <softhca/model/model.h>

static uint8_t bytes[256];
static struct wqe wqe;

static inline void put32(size_t at, uint32_t value)
{
	value = htobe32(value);
	memcpy(bytes + at, &value, sizeof(value));
}

static inline void put64(size_t at, uint64_t value)
{
	value = htobe64(value);
	memcpy(bytes + at, &value, sizeof(value));
}

/* A piece of memory: both formats have it alike. */
static inline void sge(size_t at, uint32_t length, uint32_t key, uint64_t address)
{
	put32(at, length);
	put32(at + 4, key);
	put64(at + 8, address);
}

#endif
