/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Every store to a table goes through here, so that the fault-point build can die, or stop, after each of them.
 *
 * All are sequentially consistent: the arguments in slot.c need the order of a store and a later load, which nothing
 * weaker gives on every machine, and on x86 it costs nothing more than the locked instruction that is there anyway.
 */
#ifndef COMPAT_REGTAB_MEM_H
#define COMPAT_REGTAB_MEM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* i386 aligns a plain uint64_t to 4 bytes: the layout would differ, and atomics across a cache line are slow. */
typedef uint64_t __attribute__((aligned(8))) word64;

#ifdef REGTAB_FAULTS
void regtab_fault_point(void);
#else
static inline void regtab_fault_point(void)
{
}
#endif

static inline uint64_t mem_load64(const word64 *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static inline uint32_t mem_load32(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static inline void mem_store64(word64 *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_SEQ_CST);
	regtab_fault_point();
}

static inline void mem_store32(uint32_t *p, uint32_t value)
{
	__atomic_store_n(p, value, __ATOMIC_SEQ_CST);
	regtab_fault_point();
}

static inline bool mem_cas64(word64 *p, uint64_t old, uint64_t value)
{
	bool done = __atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);

	regtab_fault_point();
	return done;
}

static inline bool mem_cas32(uint32_t *p, uint32_t old, uint32_t value)
{
	bool done = __atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);

	regtab_fault_point();
	return done;
}

static inline uint64_t mem_or64(word64 *p, uint64_t bits)
{
	uint64_t old = __atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST);

	regtab_fault_point();
	return old;
}

static inline uint64_t mem_and64(word64 *p, uint64_t bits)
{
	uint64_t old = __atomic_fetch_and(p, bits, __ATOMIC_SEQ_CST);

	regtab_fault_point();
	return old;
}

static inline uint32_t mem_add32(uint32_t *p, uint32_t n)
{
	uint32_t old = __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST);

	regtab_fault_point();
	return old;
}

static inline void mem_copy(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	regtab_fault_point();
}

#endif
