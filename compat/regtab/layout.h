/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a table looks like in memory, the same for 32- and 64-bit processes: pages of 4 KiB, no pointers, zero is empty.
 *
 *   page 0: header | any page: row of a member | any page: bits of 32,768 QP numbers of one row | ...
 *
 * The header says which page is whose row, and a row which pages are its bits. Pages are handed out in ascending order
 * and never move, so the table grows by one reserved page at a time, and what nobody is registered with costs nothing.
 */
#ifndef COMPAT_REGTAB_LAYOUT_H
#define COMPAT_REGTAB_LAYOUT_H

#include <stddef.h>

#include "regtab.h"

#define REGTAB_MAGIC	UINT64_C(0x4c42415443525800)	/* "\0XRCTABL", so that an empty file is none */
#define REGTAB_VERSION	3u
#define REGTAB_PAGE	4096u
#define PAGES_MAX	16384u			/* 64 MiB */
#define MEMBER_WORDS	(REGTAB_MEMBERS_MAX / 64)
#define QP_NUM_MAX	0xffffffu
#define RANGE_QPS	(8 * REGTAB_PAGE)	/* QP numbers that one page has a bit for */
#define RANGES		((QP_NUM_MAX + 1) / RANGE_QPS)

/* i386 aligns a plain uint64_t to 4 bytes: the layout would differ, and atomics across a cache line are slow. */
typedef uint64_t __attribute__((aligned(8))) word64;

struct table_header {
	word64 magic;			/* written last */
	uint32_t version;
	uint32_t layout_hash;
	uint8_t boot_id[16];
	struct regtab_key key;
	word64 created;			/* seconds of CLOCK_REALTIME */
	uint32_t pages;			/* handed out, this one included */
	uint8_t pad[52];
	word64 alive[MEMBER_WORDS];	/* a row counts only while its member's bit is set */
	uint16_t rows[REGTAB_MEMBERS_MAX];	/* page of each member's row; 0: that number was never used */
};

/* What a row has a bit for, per QP. */
enum row_map {
	ROW_REGISTERED,
	ROW_OWNED,		/* it is kept by its owner, not by the kernel */
	ROW_CREATED,		/* by this member; with ROW_OWNED: this is the owner */
	ROW_MAPS
};

struct member_row {
	uint32_t epoch;			/* counts the members that had this number */
	uint32_t pid;
	word64 pid_namespace;
	word64 since;
	char command[16];
	char label[REGTAB_LABEL_SIZE];
	uint8_t pad[952];
	uint16_t maps[ROW_MAPS][RANGES];	/* page of the bits; 0: none is set */
};

/** regtab_header_fill - all but the magic, which makes it valid; header is zeroed. 0, or -errno. */
int regtab_header_fill(struct table_header *header, const struct regtab_key *key);

/**
 * regtab_header_check - 0, or why a process must not join: -EPERM not a table at all, or of another key; -EPROTO of
 * another version, layout or machine; -EMFILE and the like: cannot be told. *reason: a phrase. key NULL: of any.
 */
int regtab_header_check(const struct table_header *header, const struct regtab_key *key, const char **reason);

/** regtab_key_hash - for the file's name. */
uint64_t regtab_key_hash(const struct regtab_key *key);

/*
 * Every store to a table goes through these, so that the fault-point build can die, or stop, after each of them. All are
 * sequentially consistent: the argument in tab.h needs the order of a store and a later load, which nothing weaker gives
 * on every machine, and on x86 it costs nothing more than the locked instruction that is there anyway.
 */
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
