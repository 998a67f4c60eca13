/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Keeps the account of a trace, and describes each call for the printer of its form. */
#include "trace.h"

#include <tools/common/launchers.h>
#include <tools/common/memory.h>

#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (1 << 20)

static const struct {
	const char *name, *port;
	bool returns_pointer;
} functions[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, port, returns == RETURNS_NULL },
	ABI_FUNCTIONS(X)
#undef X
};

const char *error_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "unknown error";
}

/* The caller frees it. */
static char *format_result(const struct trace_record *record)
{
	bool pointer = functions[record->verb].returns_pointer;
	const char *outcome = record->text + record->outcome;

	if (record->err)
		return format_string("%s%s", pointer ? "NULL, errno " : "",
				     error_name(record->err));
	return format_string(pointer ? "%#llx%s" : "%llu%s", (unsigned long long)record->result,
			     outcome);
}

/* ---- processes ---- */

/* A launcher may be a script. Its process tells of the interpreter, under that name. */
static void note_launcher(struct trace *trace, const char *program)
{
	if (!trace->launcher[0] && find_launcher(program))
		snprintf(trace->launcher, sizeof(trace->launcher), "%s", basename(program));
}

/*
 * A launcher is no rank, even if it has the variables of the batch job. Nor is a program that runs
 * before one: without a launcher the variables are those of the rank that this command belongs to.
 */
void trace_started(struct trace *trace, const struct trace_record *record, int32_t first)
{
	const char *program = record->text;
	static bool reached[RANKS_MAX];

	trace->started = true;
	note_launcher(trace, program);
	if (trace->printer->started)
		trace->printer->started(trace, record);
	if (find_launcher(program))
		return;
	if (!trace->launcher[0] || record->pid == first || record->rank < 0 ||
	    record->rank >= RANKS_MAX)
		return;
	if (record->ranks > (int32_t)trace->ranks && record->ranks <= RANKS_MAX)
		trace->ranks = (uint32_t)record->ranks;
	trace->reached += !reached[record->rank];
	reached[record->rank] = true;
}

/* ---- calls ---- */

const struct place *next_place(const struct trace_record *record, uint32_t *i)
{
	while (*i < record->frame_count) {
		const struct trace_frame *frame = &record->frames[(*i)++];
		const char *module = frame->module ? record->text + frame->module : "";
		const struct place *place;

		if (!module_is_of_program(module))
			continue;
		place = place_of(module, frame->offset);
		if (strcmp(place->symbol, "_start"))
			return place;
	}
	return NULL;
}

static struct site *find_site(struct trace *trace, const struct trace_record *record)
{
	uint32_t first = 0;
	const struct place *place = next_place(record, &first);
	struct site *site;

	for (size_t i = 0; i < trace->site_count; i++) {
		site = &trace->sites[i];
		if (site->first.verb == record->verb && site->place == place)
			return site;
	}
	site = &APPEND(trace->sites, trace->site_count);
	*site = (struct site){
		.number = (unsigned int)trace->site_count,
		.function = functions[record->verb].name,
		.port = functions[record->verb].port,
		.place = place,
		.first = *record,
	};
	return site;
}

void trace_begin(struct trace *trace, const char *program)
{
	note_launcher(trace, program);
	if (trace->printer->begin)
		trace->printer->begin(trace, program);
}

void trace_call(struct trace *trace, const struct trace_record *record)
{
	struct site *site = find_site(trace, record);
	char *result = format_result(record);
	struct call call = { record, result, site };

	trace->calls++;
	site->calls++;
	site->duration += record->duration;
	if (record->err)
		site->failures++;
	else
		left_account(trace, record, site->number);
	trace->printer->call(trace, &call);
	free(result);
}

void trace_crash(struct trace *trace, pid_t process, int number, const struct stack *stack)
{
	struct crash *crash = &APPEND(trace->crashes, trace->crash_count);

	*crash = (struct crash){ process, number, *stack };
	if (trace->printer->crash)
		trace->printer->crash(trace, crash);
}

void trace_end(struct trace *trace, int status)
{
	trace->reached_all = trace->reached ? trace->reached >= trace->ranks
					    : trace->calls || !trace->launcher[0];
	trace->printer->end(trace, status);
}
