/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A table directory of a test program, processes that write there, and what a reader sees. */
#ifndef REGTAB_ROOM_H
#define REGTAB_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <compat/regtab.h>

#define SEEN_MAX 64

/** struct seen - what `xrc-compat ps` has to show. */
struct seen {
	int result;			/* of regtab_list() */
	unsigned tables, members, live, foreign, refused;
	unsigned qps, live_qps, registrations;
	uint64_t bytes;
	uint32_t qp[SEEN_MAX];		/* the first numbers, */
	unsigned registrants[SEEN_MAX];
	uint32_t creator[SEEN_MAX];	/* pid or 0 */
	char path[512];			/* of the last file */
	char reason[640];		/* of the last refusal */
};

/**
 * room_dir - a directory for this program; the tests leave it empty. room_key - the n-th domain.
 */
const char *room_dir(void);
struct regtab_key room_key(unsigned n);

/** For cmocka: a test begins and ends with an empty directory. */
int room_setup(void **state);
int room_teardown(void **state);

/** room_look - what a process without entries of its own sees. */
struct seen room_look(void);

/** room_join - an entry with its file. */
struct regtab_entry *room_join(unsigned n);

/** room_pass_a_second - waits until the library's clock has advanced by a second. */
void room_pass_a_second(void);

/** room_files - how many files there are, and the path of one. */
unsigned room_files(char *path);

/** room_start - a process that does it and then waits to be killed. room_end - kills it. */
pid_t room_start(void (*what)(void *), void *arg);
void room_end(pid_t pid);

#endif
