/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The part of OFED's <infiniband/arch.h> that old programs use: byte order (with <byteswap.h> and
 * <endian.h>, which it included), and memory barriers.
 */
#ifndef INFINIBAND_ARCH_H
#define INFINIBAND_ARCH_H

#include <byteswap.h>
#include <endian.h>
#include <stdint.h>

#ifndef htonll
static inline uint64_t htonll(uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap64(x);
#else
	return x;
#endif
}
#endif

#ifndef ntohll
static inline uint64_t ntohll(uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap64(x);
#else
	return x;
#endif
}
#endif

/* Full fences, also for stores to device memory. */
#ifdef __aarch64__
#define mb() __asm__ volatile("dsb sy" ::: "memory")
#else
#define mb() __sync_synchronize()
#endif
#define rmb() mb()
#define wmb() mb()
#define wc_wmb() mb()

#endif
