/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A traced process tells the command about its start and about each call by a datagram. Both sides
 * come from one build. Only the program can tell what its arguments point to, so the library in it
 * writes them as text. The command reads files and looks up names.
 */
#ifndef TOOLS_TRACE_RECORD_H
#define TOOLS_TRACE_RECORD_H

#include <abi/verb.h>

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC 0x78726336u
#define TRACE_FRAMES 20		/* frames of the C library and of our libraries included */
#define TRACE_MODERN_CALLS 12
#define TRACE_TEXT 6142		/* bytes of text; two more bytes end it */
/* Stands in place of a verb: a process begins. The record has ids, rank, ranks, and the program. */
#define TRACE_STARTED VERBS

typedef uint64_t trace_u64 __attribute__((aligned(8)));

struct trace_frame {
	trace_u64 offset;	/* address of the call in the module, as addr2line(1) takes it */
	trace_u64 module;	/* where the module's path is in the text */
};

/* One of today's verbs, called by the shim for a legacy call. */
struct trace_modern_call {
	trace_u64 start, duration;	/* ns, as of the legacy call */
	int32_t err;		/* errno, 0 where it succeeded */
	uint32_t function;	/* where its name is in the text */
};

struct trace_record {
	uint32_t magic;
	uint32_t verb;		/* enum verb, or TRACE_STARTED */
	int32_t pid, tid;
	int32_t rank, ranks;	/* of TRACE_STARTED: this MPI process, and how many; -1: unknown */
	trace_u64 start, duration;	/* ns of CLOCK_MONOTONIC */
	int64_t result __attribute__((aligned(8)));	/* a pointer as a number */
	trace_u64 device;	/* the opened device that was given; 0: none */
	trace_u64 domain;	/* the domain that was given, or made; 0: none */
	int32_t err;		/* errno after the call where it failed, else 0 */
	uint32_t qp_num;	/* the receive QP that was given, or made; 0: none */
	uint32_t is_first;	/* the first record of its thread */
	uint32_t frame_count;
	uint32_t modern_call_count, more_modern_calls; /* recorded below; and beyond them */
	uint32_t outcome;	/* where the text says what was made: ", xrc_rcv_qpn 0x123" */
	uint32_t text_size;
	struct trace_modern_call modern_calls[TRACE_MODERN_CALLS];
	struct trace_frame frames[TRACE_FRAMES];
	/* "name=value" of each argument, "", then other strings. Only the used part is sent. */
	char text[TRACE_TEXT + 2];
};

_Static_assert(offsetof(struct trace_record, text) == 704, "one layout for 32 and 64 bits");

/* ---- inside the library; the shim keeps errno round all of it ---- */

/* Calls can be nested: a provider may call one of our verbs from within another. */
struct trace_call {
	struct trace_call *outer;
	const uintptr_t *arguments;
	struct trace_record record;
};

/* Chooses how stacks are walked, and makes the first walk of this thread. */
void trace_prepare_walk(void);

/* Adds the callers of this function to the record. */
void trace_walk(struct trace_record *record);

/* Appends a string with its end to the text of the record, and returns its place. */
uint32_t trace_put_string(struct trace_record *record, const char *string);

/* The path of the program, after trace_prepare_walk(); "" unknown. */
extern char trace_program[PATH_MAX];

/* Whether calls of this function are traced. */
bool trace_describes(enum verb verb);

/* Writes what the arguments stand for; @after the call, what it has made or filled in. */
void trace_describe(struct trace_call *call, bool after);

#endif
