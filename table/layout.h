/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The registration table of a process: which of its opened devices are registered with which
 * receive QPs, for people and tools. The library makes no decision by it. The kernel's handles
 * carry the registrations.
 *
 * The table is a memory file (memfd_create(2)) that only its process writes. Readers find it as
 * /proc/PID/fd/N, so the kernel decides who may read the table. The kernel frees the table when the
 * process ends. Seals forbid everybody to change its size. The layout is the same for 32- and
 * 64-bit processes.
 */
#ifndef TABLE_LAYOUT_H
#define TABLE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* `ls -l /proc/PID/fd` shows it. */
#define REGTAB_NAME	"xrc-compat-registrations"
#define REGTAB_MAGIC	UINT64_C(0x4c42415443525800)	/* "\0XRCTABL" */
#define REGTAB_DOMAINS	64u
/* A table that is full is replaced by a larger one. */
#define REGTAB_PLACES_MIN	1024u
#define REGTAB_PLACES_MAX	(1u << 20)

/* i386 aligns a plain uint64_t to 4 bytes. */
typedef uint64_t __attribute__((aligned(8))) regtab_u64;

/* Two domains with equal keys are the same one. Unused bytes must be 0. */
struct regtab_key {
	char device[64];	/* kernel name of the device, "mlx4_0" */
	regtab_u64 guid;	/* of the node, in network byte order, as the device reports it */
	regtab_u64 instance;	/* inode of the device's directory in sysfs; 0 if unknown */
	regtab_u64 st_dev;	/* the domain's inode */
	regtab_u64 st_ino;
};

/* A domain that an opened device of the process has open. */
struct regtab_domain {
	struct regtab_key key;
	regtab_u64 since;	/* seconds of CLOCK_REALTIME; 0: this entry is free */
};

/*
 * A place has one registration: the QP number, the index of the domain, and flags. 0: it is free.
 * Each place is written by one store.
 */
#define REGTAB_QP_NUM(place)	((place) & 0xffffffu)
#define REGTAB_DOMAIN(place)	((place) >> 24 & (REGTAB_DOMAINS - 1))
#define REGTAB_CREATED		(1u << 30)	/* the opened device has created the QP */
#define REGTAB_REGISTERED	(1u << 31)

struct regtab_file {
	regtab_u64 magic;	/* written last */
	regtab_u64 layout;	/* REGTAB_LAYOUT */
	/*
	 * The process: its id in its own pid namespace, and its start as in /proc/PID/stat. A child
	 * that inherits the descriptor has others.
	 */
	regtab_u64 start;
	uint32_t pid;
	uint32_t place_count;
	uint32_t missing;	/* registrations for which the table has no place */
	uint32_t pad;
	struct regtab_domain domains[REGTAB_DOMAINS];
	uint32_t places[];
};

/* A version, and sizes that a change of the layout changes. */
#define REGTAB_LAYOUT	(UINT64_C(5) << 56 | (uint64_t)sizeof(struct regtab_domain) << 32 | \
			 sizeof(struct regtab_file))

_Static_assert(sizeof(struct regtab_file) == 40 + 104 * REGTAB_DOMAINS, "equal for 32 and 64 bits");

static inline size_t regtab_size(uint32_t place_count)
{
	return sizeof(struct regtab_file) + place_count * sizeof(uint32_t);
}

#endif
