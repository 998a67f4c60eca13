/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The layout of a file of the registration table, for its writer (regtab_entry.c) and its readers:
 * one page of header, then two bits for each QP number. It is the same for 32- and 64-bit
 * processes. The file has holes, and ends after the last QP.
 */
#ifndef COMPAT_REGTAB_FILE_H
#define COMPAT_REGTAB_FILE_H

#include "regtab.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

#define REGTAB_PREFIX		"xrc-compat-"
#define REGTAB_MAGIC		UINT64_C(0x4c42415443525800)	/* "\0XRCTABL" */
#define REGTAB_VERSION		4u
#define REGTAB_PAGE		4096u
#define REGTAB_QP_NUM_MAX	0xffffffu
/* QP numbers in one 32-bit word of the map */
#define REGTAB_WORD_QPS		16u
#define REGTAB_PAGE_QPS		(REGTAB_PAGE / 4 * REGTAB_WORD_QPS)
#define REGTAB_MAP_PAGES	((REGTAB_QP_NUM_MAX + 1) / REGTAB_PAGE_QPS)

/* The bits of a QP number, at 2 * (number % REGTAB_WORD_QPS) of its word. */
#define REGTAB_REGISTERED	1u
#define REGTAB_CREATED		2u

/* i386 aligns a plain uint64_t to 4 bytes. */
typedef uint64_t __attribute__((aligned(8))) regtab_u64;

struct regtab_header {
	regtab_u64 magic;		/* written last */
	uint32_t version;
	uint32_t header_size;
	struct regtab_key key;
	regtab_u64 pid_namespace;	/* inode of /proc/PID/ns/pid, 0 unknown */
	regtab_u64 since;		/* seconds of CLOCK_REALTIME */
	uint32_t pid;			/* in that namespace */
	char command[16];
	char label[REGTAB_LABEL_SIZE];	/* the opened device, for people */
	uint32_t pad;
};

_Static_assert(sizeof(struct regtab_header) == 184, "equal for 32 and 64 bits");

/*
 * Takes a write lock on the whole file, without waiting. Returns 0, -EAGAIN if another process has
 * it, or another -errno.
 *
 * The lock is a process lock. A child of fork or clone inherits an open file description lock: a
 * sleeping child would keep its dead parent's registrations. A process loses its lock when it
 * closes any descriptor of the file.
 */
int regtab_lock(int fd);

/* For scandir(3): whether a file has a name of ours (for root: of any user's). */
int regtab_has_name(const struct dirent *entry);

/* A file of a directory. */
struct regtab_found {
	char path[512];
	int fd;
	struct stat st;
	const char *reason;	/* why it is refused, kept or removed */
};

/*
 * Opens the file at found->path if it can be trusted. -ENOENT: it is gone; another -errno: refused.
 * The process must not have made the file itself: the close would release its lock.
 */
int regtab_open_found(struct regtab_found *found, int flags);

/* Removes a name, but only while it is that of this file. Returns 0 or -errno. */
int regtab_unlink(const char *path, dev_t dev, ino_t ino);

/*
 * Removes a file that is open for writing, or with dry_run only tests it. Returns 0 if no process
 * has the file, -EAGAIN if one has, or -errno. found->reason says why.
 */
int regtab_remove_dead(struct regtab_found *found, bool dry_run);

#ifdef REGTAB_FAULTS
/* The tests kill the process here. One follows each store and call that others can see. */
void regtab_fault_point(void);
#else
static inline void regtab_fault_point(void)
{
}
#endif

#endif
