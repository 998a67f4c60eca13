/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The registration table shows which opened device is registered with which receive QP. It is for
 * people and tools: the library makes no decision by it and never waits for another process's file.
 * The kernel's handles carry the registrations.
 *
 * Each opened device has one file of its own for each domain, in the table directory. The files of
 * one user, device and domain inode are the table of that domain. Only the process that made a file
 * writes it. That process holds a record lock on the file, which the kernel releases when the
 * process ends. Readers check all that they read.
 *
 * A forked child owns no entry of its parent. If it calls a function with such an entry, the
 * parent's file does not change.
 */
#ifndef COMPAT_REGTAB_H
#define COMPAT_REGTAB_H

#include <stdbool.h>
#include <stdint.h>

#define REGTAB_LABEL_SIZE	32

/* Two domains with equal keys are the same one. Unused bytes must be 0. */
struct regtab_key {
	char device[64];	/* kernel name of the device, "mlx4_0" */
	uint64_t guid;		/* of the node, in network byte order, as the device reports it */
	uint64_t instance;	/* distinguishes emulated devices of the same name; else 0 */
	uint64_t st_dev;	/* the domain's inode */
	uint64_t st_ino;
};

/* One domain of one opened device, and its file while there is one. */
struct regtab_entry;

/* News of the file, of which the caller may warn. */
struct regtab_news {
	const char *lost;	/* why the process no longer has its file: a phrase, or NULL */
	/* -errno: the file cannot be made or written. regtab_refresh() tries again */
	int err;
};

/* Returns an entry without a file, or NULL. dir must outlive the entry. */
struct regtab_entry *regtab_new(const char *dir, const struct regtab_key *key, const char *label);

/*
 * Makes the file if there is none or it was lost, with all registrations, and writes again what
 * could not be written. Looks at most once a second. This and the functions below accept NULL for
 * the entry, and call the kernel: the caller must hold no lock.
 */
void regtab_refresh(struct regtab_entry *entry, struct regtab_news *news);

/*
 * The opened device is registered with a QP. If another thread is writing into the file, that
 * thread writes this, too. Calls about one QP must not overlap.
 * @created: the device has created the QP
 */
void regtab_enter(struct regtab_entry *entry, uint32_t qp_num, bool created);

/* The opened device is no longer registered with the QP. As regtab_enter(). */
void regtab_drop(struct regtab_entry *entry, uint32_t qp_num);

/* Removes the file and frees the entry. In a forked child the parent's file stays. */
void regtab_free(struct regtab_entry *entry);

/* Removes some files that no process has locked. Not all of them: many processes may start. */
void regtab_gc(const char *dir);

#endif
