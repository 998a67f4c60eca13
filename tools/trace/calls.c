/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Keeps the account of a trace, and describes each call for the printer of its form. */
#include "trace.h"

#include <tools/job/launchers.h>
#include <tools/text/memory.h>
#include <tools/text/text.h>

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

/* A launcher may be a script, whose process reports the interpreter's name. */
static void note_launcher(struct trace *trace, const char *program)
{
	if (!trace->launcher[0] && find_launcher(program))
		snprintf(trace->launcher, sizeof(trace->launcher), "%s", basename(program));
}

/*
 * A launcher is no rank, even if it has the job's variables. Without a launcher this command is
 * itself part of a rank, and the variables are that rank's. A program that runs before the launcher
 * is no rank either.
 */
void trace_started(struct trace *trace, const struct trace_record *record, int32_t first)
{
	const char *program = record->text;
	static bool reached[RANKS_MAX];

	trace->started = true;
	note_launcher(trace, program);
	if (trace->printer->started)
		trace->printer->started(trace, record);
	if (find_launcher(program) || !trace->launcher[0] || record->pid == first ||
	    record->rank < 0 || record->rank >= RANKS_MAX)
		return;
	if (record->ranks > (int32_t)trace->ranks && record->ranks <= RANKS_MAX)
		trace->ranks = (uint32_t)record->ranks;
	trace->reached += !reached[record->rank];
	reached[record->rank] = true;
}

/* ---- domains and registrations that the program has not ended ---- */

/*
 * A call about the domain itself has no QP number. It concerns all registrations of the domain. The
 * end of a device concerns all its domains and their registrations (contract 5.7).
 */
static bool concerns(const struct trace_record *record, const struct leftover *leftover)
{
	if (leftover->pid != record->pid)
		return false;
	if (record->verb == VERB_ibv_close_device)
		return leftover->device == record->device;
	return leftover->domain == record->domain &&
	       (!record->qp_num || record->qp_num == leftover->qp_num);
}

static void remove_leftovers(struct trace *trace, const struct trace_record *record)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->leftover_count; i++) {
		if (!concerns(record, &trace->leftovers[i]))
			trace->leftovers[kept++] = trace->leftovers[i];
	}
	trace->leftover_count = kept;
}

static void add_leftover(struct trace *trace, const struct trace_record *record, unsigned int site)
{
	struct leftover new = { site, record->pid, record->qp_num, record->device, record->domain };

	EACH(leftover, trace->leftovers, trace->leftover_count) {
		/* Registering again changes nothing (contract 5.6), so the first call counts. */
		if (concerns(record, leftover))
			return;
		/* Only the call that opens a domain has the device as an argument. */
		if (leftover->pid == record->pid && leftover->domain == record->domain)
			new.device = leftover->device;
	}
	APPEND(trace->leftovers, trace->leftover_count) = new;
}

static void account_leftovers(struct trace *trace, const struct trace_record *record,
			      unsigned int site)
{
	switch (record->verb) {
	case VERB_ibv_open_xrc_domain:
	case VERB_ibv_create_xrc_rcv_qp:
	case VERB_ibv_reg_xrc_rcv_qp:
		add_leftover(trace, record, site);
		break;
	case VERB_ibv_close_device:
	case VERB_ibv_close_xrc_domain:
	case VERB_ibv_unreg_xrc_rcv_qp:
		remove_leftovers(trace, record);
		break;
	default:
		break;
	}
}

/* ---- calls ---- */

/* The C library and our own libraries: their frames are not shown. */
#define NOT_SHOWN "lib@(c.so.|c-2.|pthread|xrc-trace.so|xrc-compat.so)*"

const struct place *next_place(const struct trace_record *record, uint32_t *i)
{
	while (*i < record->frame_count) {
		const struct trace_frame *frame = &record->frames[(*i)++];
		const char *module = frame->module ? record->text + frame->module : "";
		const struct place *place;

		if (text_matches(basename(module), NOT_SHOWN))
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
	struct site *new;

	EACH(site, trace->sites, trace->site_count) {
		if (site->first.verb == record->verb && site->place == place)
			return site;
	}
	new = &APPEND(trace->sites, trace->site_count);
	*new = (struct site){ .number = (unsigned int)trace->site_count,
			      .function = functions[record->verb].name,
			      .port = functions[record->verb].port,
			      .place = place, .first = *record };
	return new;
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

	trace->calls++;
	site->calls++;
	site->duration += record->duration;
	if (record->err)
		site->failures++;
	else
		account_leftovers(trace, record, site->number);
	trace->printer->call(trace, record, site, result);
	free(result);
}

void trace_crash(struct trace *trace, const struct crash *crash)
{
	APPEND(trace->crashes, trace->crash_count) = *crash;
	if (trace->printer->crash)
		trace->printer->crash(trace, crash);
}

void trace_end(struct trace *trace, int status)
{
	trace->reached_all = trace->reached ? trace->ranks && trace->reached >= trace->ranks
					    : trace->calls || !trace->launcher[0];
	trace->printer->end(trace, status);
}
