/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a traced process tells the command about its start and about each call: one datagram. Both
 * sides come from one build. Only the program can tell what its arguments point to, so it writes
 * them as text. The command reads files and looks up names.
 */
#ifndef XRC_COMPAT_TOOLS_TRACE_RECORD_H
#define XRC_COMPAT_TOOLS_TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <abi/verb.h>

#define TRACE_MAGIC 0x78726334u
#define TRACE_FRAMES 20		/* with those of the C library and of ours */
#define TRACE_BECAME 12
/* Instead of a verb: a process begins. Has only pid, rank, ranks and frames[0], the program. */
#define TRACE_STARTED VERBS

typedef uint64_t trace_u64 __attribute__((aligned(8)));

struct trace_frame {
	trace_u64 offset;	/* of the call, as addr2line(1) takes it */
	char module[256];	/* path */
};

/* One of today's verbs that the shim called for it. */
struct trace_became {
	trace_u64 start, duration;	/* as those of the call */
	int32_t err;		/* errno, 0 where it succeeded */
	char function[28];
};

struct trace_record {
	uint32_t magic;
	uint32_t verb;		/* enum verb, or TRACE_STARTED */
	int32_t pid, tid;
	int32_t rank, ranks;	/* of an MPI process and how many there are; -1 unknown */
	trace_u64 start, duration;	/* ns of CLOCK_MONOTONIC */
	int64_t result __attribute__((aligned(8)));	/* as returned; pointers as numbers */
	trace_u64 domain;	/* of a registration: given, or made */
	int32_t err;		/* errno after the call where it failed, else 0 */
	uint32_t qp_num;	/* of a receive QP: given or made */
	uint32_t frame_count;
	uint32_t became_count;
	char arguments[1536];	/* lines "name=value" */
	char outcome[768];	/* what was made or filled in: ", xrc_rcv_qpn 0x000123" */
	struct trace_became became[TRACE_BECAME];
	struct trace_frame frames[TRACE_FRAMES];
};

_Static_assert(sizeof(struct trace_record) == 8232, "one layout for 32 and 64 bits");

/* ---- inside the library; the shim keeps errno round all of it ---- */

/* Calls can be nested: a provider may call one of our verbs from within another. */
struct trace_call {
	struct trace_call *outer;
	uintptr_t arguments[5];
	struct trace_record record;
};

/* The path of the program; "" unknown. Set by trace_prepare_walk(). */
extern char trace_program[256];

/* Chooses how stacks are walked, and makes the first walk of this thread. */
void trace_prepare_walk(void);

/* Adds the callers of this function to the record. */
void trace_walk(struct trace_record *record);

/* Whether calls of this function are traced. */
bool trace_describes(enum verb verb);

/*
 * Writes what the arguments stand for. @given: before the call, the arguments in the order of
 * abi/symbols.tab. NULL: after the call, what was made or filled in.
 */
void trace_describe(struct trace_call *call, const uintptr_t *given);

#endif
