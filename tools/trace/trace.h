/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A trace as the command keeps it: the places that make legacy calls. */
#ifndef XRC_COMPAT_TOOLS_TRACE_H
#define XRC_COMPAT_TOOLS_TRACE_H

#include "library/record.h"
#include "tools/common/json.h"

#include <stdbool.h>
#include <stdio.h>

/* A place in the program that makes legacy calls. */
struct trace_site {
	unsigned int number;		/* from 1, in the order of their first calls */
	unsigned long calls, failures;
	uint64_t duration;		/* ns, all calls */
	struct trace_record first;
};

struct trace_census {
	struct trace_site **sites;
	size_t site_count;
	unsigned long calls;
	bool started;			/* the program, or another that was to be traced */
	char launcher[64];		/* the name of one that was started; "" none was */
	uint32_t reached, ranks;	/* MPI ranks that were traced, of how many; 0 unknown */
	unsigned char *rank_reached;	/* of each */
};

/** trace_count - enter one call. Returns its site, which is new if it has one call. */
const struct trace_site *trace_count(struct trace_census *census,
				     const struct trace_record *record);

/**
 * trace_started - enter the start of a process. first: the one that the command itself has started.
 */
void trace_started(struct trace_census *census, const struct trace_record *record, int32_t first);

/** trace_started_by_name - the command was given a program of this name, which may be a script. */
void trace_started_by_name(struct trace_census *census, const char *program);

/** trace_reached_all - whether the processes of a launcher were traced, as far as can be told. */
bool trace_reached_all(const struct trace_census *census);

void trace_census_free(struct trace_census *census);

/** trace_failed - whether the program was told so. */
bool trace_failed(const struct trace_record *record);

/** trace_became_kept - how many of became[] are filled in. */
uint32_t trace_became_kept(const struct trace_record *record);

/* The function and the line of the source that an address of a program or library is in. */
struct place {
	char module[256];	/* printable */
	char symbol[64];	/* "" unknown */
	uint64_t symbol_offset;	/* behind the beginning of the function */
	/* "file.c:12"; "" without debug information, or without addr2line(1) */
	char line[256];
};

/*
 * Looks once per address at the symbol table of the module's file, static functions too, and asks
 * addr2line(1), which knows every kind of debug information.
 */
const struct place *place_of(const struct trace_frame *frame);

/* True for a frame of the program or of a library of its own. */
bool place_is_of_program(const struct trace_frame *frame);

/* Where a trace goes: as text, or as one JSON document. */
struct trace_writer {
	bool is_json;
	bool port_to;		/* in text: say what to port the call of each place to */
	FILE *out;
	struct json json;
};

void trace_write_begin(struct trace_writer *writer, const char *program);
void trace_write_call(struct trace_writer *writer, const struct trace_record *record,
		      const struct trace_site *site);
/* status: with which the program ended, or with which it could not be started. */
void trace_write_end(struct trace_writer *writer, const struct trace_census *census, int status);

#endif
