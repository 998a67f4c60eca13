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

/* What follows the control segment of a send of two pieces, and what must be read of it. */
static inline void put_two_pieces(void)
{
	put32(12, 0xaabbccdd);
	sge(16, 100, 0x4200, 0x1000);
	sge(32, 28, 0x4300, 0x2000);
}

static inline void assert_two_pieces(void)
{
	assert_true(wqe.signalled && wqe.solicited);
	assert_int_equal(wqe.imm, htobe32(0xaabbccdd));
	assert_int_equal(wqe.sges, 2);
	assert_int_equal(wqe.length, 128);
	assert_int_equal(wqe.sge[1].key, 0x4300);
	assert_int_equal(wqe.sge[1].address, 0x2000);
}

/* The same of an atomic. */
static inline void put_atomic(void)
{
	put64(16, 0x7000);
	put32(24, 0x99);
	put64(32, 5);
	put64(40, 6);
	sge(48, 8, 1, 2);
}

static inline void assert_atomic(void)
{
	assert_int_equal(wqe.remote_address, 0x7000);
	assert_int_equal(wqe.rkey, 0x99);
	assert_int_equal(wqe.swap_add, 5);
	assert_int_equal(wqe.compare, 6);
	assert_int_equal(wqe.length, 8);
}

#endif
