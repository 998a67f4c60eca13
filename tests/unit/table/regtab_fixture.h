/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the tables of this test program and its processes, and no others. */
#ifndef REGTAB_FIXTURE_H
#define REGTAB_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <table/layout.h>

#include <harness/unit.h>

#define SEEN_MAX 64

/* The numbers that `xrc-compat ps` prints. */
struct seen {
	unsigned tables, members, refused;
	unsigned qps, registrations, missing;
	uint32_t qp[SEEN_MAX];		/* the first numbers, */
	unsigned registrants[SEEN_MAX];
	pid_t creator[SEEN_MAX];	/* pid or 0 */
	pid_t pid;			/* of the last member */
	char path[64];			/* of the last table */
	char reason[128];		/* of the last refusal */
};

/* The key of domain @n of this test program. */
struct regtab_key domain_key(unsigned n);

struct seen read_tables(void);

/* Opens domain @n, registers with a QP, and lets others see it. Returns the place. */
int enter(unsigned n, uint32_t qp_num, bool created);

/* Forks a process that calls @what and then waits; returns after the call. */
pid_t start_process(void (*what)(void *), void *arg);

/* Kills a process and waits for its end. */
void kill_process(pid_t pid);

#endif
