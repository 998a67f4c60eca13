/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A trace: the calls of all processes, the places that make them, and their names. */
#ifndef TOOLS_TRACE_H
#define TOOLS_TRACE_H

#include <tools/run/run.h>
#include <tools/stack/stack.h>
#include <tools/text/json.h>
#include <tools/trace/library/record.h>

/* A domain that was opened and not closed, or a registration that was not cancelled. */
struct leftover {
	unsigned int site;	/* the number of the place that made it */
	int32_t pid;
	uint32_t qp_num;	/* 0: it is a domain */
	uint64_t device, domain;	/* the opened device, and its domain */
};

/* A place in the program that makes legacy calls. */
struct site {
	unsigned int number;		/* from 1, in the order of their first calls */
	const char *function, *port;	/* the function, and today's in its place */
	unsigned long calls, failures;
	uint64_t duration;		/* ns, all calls */
	const struct place *place;	/* NULL: unknown */
	struct trace_record first;
};

/* A thread that a signal killed. */
struct crash {
	pid_t process;
	int number;			/* the signal's */
	struct stack stack;
};

/* The account of a whole trace. */
struct trace {
	const struct printer *printer;
	bool port_to;			/* text names today's function for each place */
	FILE *out;
	struct json json;		/* the document, in the forms that are JSON */
	struct site *sites;
	size_t site_count;
	struct leftover *leftovers;
	size_t leftover_count;
	struct crash *crashes;
	size_t crash_count;
	unsigned long calls;
	bool started;			/* the tracing library has, in some process */
	bool reached_all;		/* surely all ranks of the launcher; set at the end */
	char launcher[64];		/* the first that was started; "" none was */
	uint32_t reached, ranks;	/* MPI ranks that were traced, of how many; 0 unknown */
};

/*
 * A form of the trace. A member is NULL if the form shows no such thing when it happens. Functions
 * for members are named FORM_MEMBER, as text_call(); the functions that they call are print_...().
 */
struct printer {
	void (*begin)(struct trace *trace, const char *program);
	void (*started)(struct trace *trace, const struct trace_record *record);
	/* @site has counted the call. @result: the errno by name, or the value and what was made */
	void (*call)(struct trace *trace, const struct trace_record *record,
		     const struct site *site, const char *result);
	void (*crash)(struct trace *trace, const struct crash *crash);
	void (*end)(struct trace *trace, int status);
};

extern const struct printer text_printer, document_printer, events_printer;

/* Writes a member for each string "name=value". The object is open already. */
void print_json_arguments(struct json *json, const char *argument);

/* The next frame from *@i on that is not of the C library, of ours, or _start; NULL: none. */
const struct place *next_place(const struct trace_record *record, uint32_t *i);

const char *error_name(int err);

/* Says why the trace has no call, or not the calls of all ranks; nothing if it has them. */
void print_reach(FILE *out, const struct trace *trace, int status);

/* Begins the trace. @program: the name that the command was given. */
void trace_begin(struct trace *trace, const char *program);

/*
 * Enters the start of a process. It counts as a rank if a launcher started before it. @first: the
 * process that the command itself has started; it is no rank of a launcher below it.
 */
void trace_started(struct trace *trace, const struct trace_record *record, int32_t first);

void trace_call(struct trace *trace, const struct trace_record *record);

/* Enters a thread that a signal is about to kill. */
void trace_crash(struct trace *trace, const struct crash *crash);

/* @status: the exit status of the program, or of the failed attempt to start it. */
void trace_end(struct trace *trace, int status);

/* ---- follow.c ---- */

/* Runs the program to its end. Its exit status, or that of the failed attempt to start it. */
int trace_follow(struct trace *trace, const struct launch *launch);

#endif
