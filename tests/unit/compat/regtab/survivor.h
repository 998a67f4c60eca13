/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The process that lives on when another one dies or stops in the middle of a table, and what must hold for it then. */
#ifndef TESTS_REGTAB_SURVIVOR_H
#define TESTS_REGTAB_SURVIVOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include <compat/owner/owner.h>
#include <compat/regtab/layout.h>

/* The numbers of the QPs in the table. */
enum {
	SHARED = 1,	/* made by the survivor */
	SERVED = 2,	/* the survivor owns it */
	LEFT = 3,	/* made by the corpse; the survivor is registered */
	FORGOTTEN = 4,	/* made by the corpse alone */
	REPLACED = 5,	/* made by the survivor; the victim enters it anew */
	OWN = 6,	/* the victim's */
	OWNED = 7,
	CROWD_SIZE = 6,
};

#define ANSWER_MS	20000

/* In a function that returns 0 if all goes well. */
#define MUST(call) do { int r_ = (call); if (r_) { fprintf(stderr, "%s: %d\n", #call, r_); return 1; } } while (0)

/* Numbers so far apart that each needs pages of its own. */
static inline uint32_t crowded(unsigned n)
{
	return 100 + n * RANGE_QPS;
}

struct survivor {
	struct regtab *tab;
	struct regtab_member *member;
	struct regtab_member *second;
	struct owner *owner;
	pthread_t server;
	bool serving;
};

/** survivor_start - makes a table; another process registers there, too, and dies without leaving. */
void survivor_start(struct survivor *survivor);
void survivor_end(struct survivor *survivor);

/** survivor_check - nothing is lost, nothing is left, everything works. n: the fault point, for the message. */
void survivor_check(struct survivor *survivor, unsigned long n);

/** survivor_check_beside - while a process is stopped in the middle, nobody waits for it. */
void survivor_check_beside(struct survivor *survivor);

/** ask_served - asks the survivor, who owns SERVED. 0: it answered. */
int ask_served(struct regtab_member *member);

#endif
