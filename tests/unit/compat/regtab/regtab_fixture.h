/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table directory of a test program, its clock, processes that write there, and a reader. */
#ifndef REGTAB_FIXTURE_H
#define REGTAB_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <compat/regtab.h>

/* A test begins and ends with an empty directory. */
#define UNIT_SETUP expect_no_files
#define UNIT_TEARDOWN expect_files_removed

#include <harness/unit.h>

#define SEEN_MAX 64

/* The numbers that `xrc-compat ps` prints. */
struct seen {
	int result;			/* of regtab_list() */
	unsigned tables, members, live, foreign, refused;
	unsigned qps, live_qps, registrations;
	uint32_t qp[SEEN_MAX];		/* the first numbers, */
	unsigned registrants[SEEN_MAX];
	uint32_t creator[SEEN_MAX];	/* pid or 0 */
	char path[512];			/* of the last file */
	char reason[640];		/* of the last refusal */
};

/* Return the directory of this program's tables, and the key of domain @n. */
const char *tables_dir(void);
struct regtab_key domain_key(unsigned n);

int expect_no_files(void **state);
int expect_files_removed(void **state);

/* Returns the content of the directory, read by a process without entries of its own. */
struct seen read_tables(void);

/* Returns an entry of domain 1 in this directory. *err: 0, or -errno if it has no file. */
struct regtab_entry *try_entry(const char *directory, int *err);

/* Returns an entry of domain @n with its file. */
struct regtab_entry *new_entry(unsigned n);

/* Advances the clock by which the library looks for its file. */
void advance_a_second(void);

/* Returns the number of files; @path gets the path of one of them, unless it is NULL. */
unsigned count_files(char *path);

/* Forks a process that calls @what and then waits; returns after the call. */
pid_t start_process(void (*what)(void *), void *arg);

/* Kills a process and waits for its end. */
void kill_process(pid_t pid);

#endif
