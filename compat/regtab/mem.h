/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Every store to a table goes through here, so that the fault-point build can die, or stop, after each of them.
 *
 * All are sequentially consistent: the argument in row.h needs the order of a store and a later load, which nothing
 * weaker gives on every machine, and on x86 it costs nothing more than the locked instruction that is there anyway.
 */
#ifndef COMPAT_REGTAB_MEM_H
#define COMPAT_REGTAB_MEM_H

#include <stdbool.h>
#include <stdint.h>

/* i386 aligns a plain uint64_t to 4 bytes: the layout would differ, and atomics across a cache line are slow. */
typedef uint64_t __attribute__((aligned(8))) word64;

#ifdef REGTAB_FAULTS
void regtab_fault_point(void);
#else
static inline void regtab_fault_point(void)
{
}
#endif

#define mem_load(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)

#define mem_store(p, value)						\
	do {								\
		__atomic_store_n((p), (value), __ATOMIC_SEQ_CST);	\
		regtab_fault_point();					\
	} while (0)

static inline void mem_or(word64 *p, uint64_t bits)
{
	__atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST);
	regtab_fault_point();
}

static inline void mem_clear(word64 *p, uint64_t bits)
{
	__atomic_fetch_and(p, ~bits, __ATOMIC_SEQ_CST);
	regtab_fault_point();
}

static inline bool mem_swap(uint32_t *p, uint32_t old, uint32_t value)
{
	bool done = __atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);

	regtab_fault_point();
	return done;
}

#endif
