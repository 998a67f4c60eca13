/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Sums up the traced calls: the places that make them, and what is still open in the end. */
#ifndef XRC_COMPAT_TOOLS_TRACE_CENSUS_H
#define XRC_COMPAT_TOOLS_TRACE_CENSUS_H

#include "library/record.h"

#include <stdbool.h>
#include <stddef.h>

/* A place in the program that makes legacy calls. */
struct trace_site {
	struct trace_site *next;
	unsigned int number;		/* from 1, in the order of their first calls */
	unsigned long calls, failures;
	uint64_t duration;		/* ns, all calls */
	struct trace_record first;
};

/* A domain that was opened and not closed, or a registration that was not cancelled. */
struct trace_left {
	struct trace_left *next;
	const struct trace_site *site;
	struct trace_record record;	/* of the call that made it */
};

#define TRACE_VERBS 24

/* One of today's verbs that calls of a legacy function became. */
struct trace_verb {
	char function[24];
	unsigned long calls, failures;
	uint64_t duration;		/* ns, all calls */
};

struct trace_census {
	struct trace_site *sites;
	struct trace_left *left;
	unsigned long calls;
	bool started;			/* the program, or another that was to be traced */
	char launcher[64];		/* the name of one that was started; "" none was */
	uint32_t reached, ranks;	/* MPI ranks that were traced, of how many; 0 unknown */
	unsigned char *rank_reached;	/* of each */
	struct trace_verb became[VERBS][TRACE_VERBS];	/* by legacy function; those with a name */
};

/**
 * trace_count - enter one call. Returns its site, NULL when out of memory; *new is set if it was
 * not known.
 */
const struct trace_site *trace_count(struct trace_census *census, const struct trace_record *record,
				     bool *new);

/**
 * trace_started - enter the start of a process. first: the one that the command itself has started.
 */
void trace_started(struct trace_census *census, const struct trace_record *record, int32_t first);

/** trace_started_by_name - the command was given a program of this name, which may be a script. */
void trace_started_by_name(struct trace_census *census, const char *program);

/** trace_reached_all - whether the processes of a launcher were traced, as far as can be told. */
bool trace_reached_all(const struct trace_census *census);

void trace_census_free(struct trace_census *census);

#endif
