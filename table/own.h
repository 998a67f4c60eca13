/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Writes the table of this process (table/layout.h). Calls must not overlap.
 *
 * The table is in memory, whether or not others can see it. regtab_show() makes the memory file.
 */
#ifndef TABLE_OWN_H
#define TABLE_OWN_H

#include "layout.h"

#include <stdbool.h>

#define REGTAB_NONE (-1)	/* no room in the table: `xrc-compat ps` says so */

/* An opened device has the domain open. Returns its entry, or REGTAB_NONE. */
int regtab_open(const struct regtab_key *key);

/* The domain is closed. Its registrations were dropped. */
void regtab_close(int domain);

/*
 * An opened device is registered with a QP. Returns the place of the registration, or REGTAB_NONE.
 * @created: the device has created the QP
 */
int regtab_enter(int domain, uint32_t qp_num, bool created);

/* The registration at this place has ended. */
void regtab_drop(int place);

/*
 * Makes the memory file if there is none for the table as it is, or if the program has closed its
 * descriptor. Returns 0 or -errno; the next call tries again.
 */
int regtab_show(void);

/* Before the first call in each process: a forked child makes a table of its own. */
void regtab_forget(void);

/*
 * Returns the start of a process as in @stat, a file "/proc/PID/stat"; 0 if that cannot be read.
 * The kernel reuses process ids; the id and the start name one process.
 */
uint64_t regtab_start(const char *stat);

/* Makes a memory file that can be sealed. Returns its descriptor, or -errno. */
int regtab_make_file(const char *name);

#endif
