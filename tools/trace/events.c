/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Prints a trace for a viewer of traces, in Chrome's format: an array of events. The end of the
 * array may be missing, so that the file of a command that was killed can be read.
 */
#include "trace.h"

#include <tools/aside/clock.h>
#include <tools/text/memory.h>

#include <stdlib.h>
#include <string.h>

/* A registration with a receive QP, from which an arrow begins. */
struct origin {
	uint32_t qp_num;
	bool is_creator;
	int32_t pid, tid;
	uint64_t time;
};

static struct origin *origins;
static size_t origin_count;

/* The caller closes the object. */
static struct json *open_event(struct trace *trace, const char *phase, const char *name,
			       int32_t pid, int32_t tid)
{
	struct json *json = &trace->json;

	json_open(json, NULL, '{');
	json_string(json, "ph", phase);
	json_string(json, "name", name);
	json_number(json, "pid", pid);
	json_number(json, "tid", tid);
	return json;
}

/* ---- processes ---- */

static void events_begin(struct trace *trace, const char *program)
{
	(void)program;
	json_open(&trace->json, NULL, '[');
}

static void events_started(struct trace *trace, const struct trace_record *record)
{
	const char *program = basename(record->text);
	struct json *json = open_event(trace, "M", "process_name", record->pid, record->pid);

	json_open(json, "args", '{');
	json_string(json, "name", record->rank < 0 ? program
						   : format_string("%s (rank %d)", program,
								   record->rank));
	json_close(json, '}');
	json_close(json, '}');
}

/* ---- arrows ---- */

static void print_end_of_arrow(struct trace *trace, const char *phase, int id,
			       const struct origin *at)
{
	char *name = format_string("receive QP 0x%06x", at->qp_num);
	struct json *json = open_event(trace, phase, name, at->pid, at->tid);

	json_string(json, "cat", "receive QP");
	json_number(json, "id", id);
	json_microseconds(json, "ts", at->time);
	json_string(json, "bp", "e");	/* the slice that is open then */
	json_close(json, '}');
	free(name);
}

static struct origin *find_origin(uint32_t qp_num, int32_t pid, bool created)
{
	for (size_t i = origin_count; i > 0; i--) {
		struct origin *origin = &origins[i - 1];

		if (origin->qp_num == qp_num && (created ? origin->is_creator : origin->pid == pid))
			return origin;
	}
	return NULL;
}

/* Draws an arrow from the creation to each registration, and from there to its end. */
static void print_arrows(struct trace *trace, const struct trace_record *record)
{
	struct origin here = { record->qp_num, record->verb == VERB_ibv_create_xrc_rcv_qp,
			       record->pid, record->tid, record->start };
	bool ends = record->verb == VERB_ibv_unreg_xrc_rcv_qp;
	static int id;
	const struct origin *from;

	if (!ends && !here.is_creator && record->verb != VERB_ibv_reg_xrc_rcv_qp)
		return;
	from = here.is_creator ? NULL : find_origin(here.qp_num, here.pid, !ends);
	if (from) {
		print_end_of_arrow(trace, "s", ++id, from);
		print_end_of_arrow(trace, "f", id, &here);
	}
	if (!ends)
		APPEND(origins, origin_count) = here;
}

/* ---- calls ---- */

static void print_modern_calls(struct trace *trace, const struct trace_record *record)
{
	EACH(modern, record->modern_calls, record->modern_call_count) {
		struct json *json = open_event(trace, "X", record->text + modern->function,
					       record->pid, record->tid);

		json_string(json, "cat", "modern");
		json_microseconds(json, "ts", modern->start);
		json_microseconds(json, "dur", modern->duration);
		if (modern->err) {
			json_open(json, "args", '{');
			json_string(json, "error", error_name(modern->err));
			json_close(json, '}');
		}
		json_close(json, '}');
	}
}

static void events_call(struct trace *trace, const struct trace_record *record,
			const struct site *site, const char *result)
{
	struct json *json = open_event(trace, "X", site->function, record->pid, record->tid);
	const struct place *place = site->place;

	json_string(json, "cat", "legacy");
	json_microseconds(json, "ts", record->start);
	json_microseconds(json, "dur", record->duration);
	json_open(json, "args", '{');
	print_json_arguments(json, record->text);
	json_string(json, "result", result);
	json_string(json, "from", place ? place->symbol : NULL);
	json_string(json, "line", place ? place->line : NULL);
	json_close(json, '}');
	json_close(json, '}');
	print_modern_calls(trace, record);
	if (!record->err)
		print_arrows(trace, record);
	/* Whole events only: the command may be killed at any time. */
	fflush(trace->out);
}

static void events_crash(struct trace *trace, const struct crash *crash)
{
	struct json *json = open_event(trace, "i", strsignal(crash->number), crash->process,
				       crash->stack.thread);

	json_microseconds(json, "ts", clock_now());
	json_string(json, "s", "t");	/* a mark in the track of the thread */
	json_open(json, "args", '{');
	json_string(json, "call", crash->stack.call);
	json_close(json, '}');
	json_close(json, '}');
}

static void events_end(struct trace *trace, int status)
{
	json_close(&trace->json, ']');
	print_reach(stderr, trace, status);
}

const struct printer events_printer = {
	.begin = events_begin, .started = events_started, .call = events_call,
	.crash = events_crash, .end = events_end
};
