/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes a trace: the calls as they come, then the places that made them and what they left. */
#include "tools/common/launchers.h"
#include "tools/common/memory.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (1 << 20)

/* A place in the program that makes legacy calls. */
struct site {
	unsigned int number;		/* from 1, in the order of their first calls */
	unsigned long calls, failures;
	uint64_t duration;		/* ns, all calls */
	const struct place *place;	/* NULL: unknown */
	struct trace_record first;
};

static const struct {
	const char *name, *port;
	bool returns_pointer;
} functions[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, port, returns == RETURNS_NULL },
	ABI_FUNCTIONS(X)
#undef X
};

static const char *error_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "unknown error";
}

static bool has_failed(const struct trace_record *record)
{
	return functions[record->verb].returns_pointer ? !record->result : record->result != 0;
}

/* What came back, with the errno by name, and what was made. The caller frees it. */
static char *format_result(const struct trace_record *record)
{
	bool pointer = functions[record->verb].returns_pointer;

	if (has_failed(record))
		return format_string(pointer ? "NULL, errno %s" : "%s",
				     error_name(pointer ? record->err : (int)record->result));
	return format_string(pointer ? "%#llx%s" : "%lld%s", (unsigned long long)record->result,
			     record->outcome);
}

/* ---- one fact, as a member of JSON or as a piece of text ---- */

static void put_number(struct trace *trace, const char *key, const char *format,
		       unsigned long long value)
{
	json_number(&trace->json, key, (long long)value);
	if (!trace->is_json)
		fprintf(trace->out, format, value);
}

/* "" becomes null in JSON. Without a format in JSON only. */
static void put_text(struct trace *trace, const char *key, const char *format, const char *value)
{
	if (trace->is_json)
		json_string(&trace->json, key, value[0] ? value : NULL);
	else if (format)
		fprintf(trace->out, format, value);
}

static void put_duration(struct trace *trace, uint64_t nanoseconds)
{
	json_number(&trace->json, "duration_ns", (long long)nanoseconds);
	if (!trace->is_json)
		fprintf(trace->out, "<%.1f us>", (double)nanoseconds / 1e3);
}

/* ---- places ---- */

static void put_place(struct trace *trace, const struct place *place)
{
	json_open(&trace->json, NULL, '{');
	put_text(trace, "module", NULL, place->module);
	json_number(&trace->json, "offset", (long long)place->offset);
	put_text(trace, "symbol", NULL, place->symbol);
	put_text(trace, "line", NULL, place->line);
	json_close(&trace->json, '}');
	if (!trace->is_json)
		place_print(trace->out, place);
}

/* A function that is inlined has a row of its own, as in a debugger. */
static void put_frame(struct trace *trace, const struct place *place, unsigned int *number)
{
	for (; place; place = place->outer) {
		if (!trace->is_json)
			fprintf(trace->out, "        #%u ", (*number)++);
		put_place(trace, place);
	}
}

static void put_stack(struct trace *trace, const struct trace_record *record)
{
	unsigned int number = 0;

	json_open(&trace->json, "backtrace", '[');
	for (uint32_t i = 0; i < record->frame_count; i++)
		put_frame(trace, place_of(record->frames[i].module, record->frames[i].offset),
			  &number);
	json_close(&trace->json, ']');
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
	const char *program = record->frame_count ? record->frames[0].module : "";
	static bool reached[RANKS_MAX];

	trace->started = true;
	note_launcher(trace, program);
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

static struct site *find_site(struct trace *trace, const struct trace_record *record)
{
	const struct trace_frame *frame = record->frames;
	const struct place *place = record->frame_count ? place_of(frame->module, frame->offset)
							: NULL;
	struct site *site;

	for (size_t i = 0; i < trace->site_count; i++) {
		site = &trace->sites[i];
		if (site->first.verb == record->verb && site->place == place)
			return site;
	}
	trace->sites = extend(trace->sites, trace->site_count, sizeof(*trace->sites));
	site = &trace->sites[trace->site_count++];
	*site = (struct site){
		.number = (unsigned int)trace->site_count, .place = place, .first = *record
	};
	return site;
}

/* In text: "[ibv_open_qp = EINVAL <3.1 us>, ibv_create_qp_ex <20.0 us>]". */
static void put_became(struct trace *trace, const struct trace_record *record)
{
	json_open(&trace->json, "became", '[');
	for (uint32_t i = 0; i < record->became_count; i++) {
		const struct trace_became *became = &record->became[i];

		json_open(&trace->json, NULL, '{');
		put_text(trace, "function", i ? ", %s" : " [%s", became->function);
		put_text(trace, "error", became->err ? " = %s " : " ",
			 became->err ? error_name(became->err) : "");
		put_duration(trace, became->duration);
		json_close(&trace->json, '}');
	}
	json_close(&trace->json, ']');
	if (!trace->is_json)
		fputs(record->became_count ? "]" : " [nothing]", trace->out);
}

static void put_arguments(struct trace *trace, const char *argument)
{
	const char *separator = "";

	json_open(&trace->json, "arguments", '{');
	for (; *argument; argument += strlen(argument) + 1) {
		char *name = format_string("%.*s", (int)strcspn(argument, "="), argument);

		put_text(trace, name, NULL, argument + strlen(name) + 1);
		if (!trace->is_json)
			fprintf(trace->out, "%s%s", separator, argument);
		separator = ", ";
		free(name);
	}
	json_close(&trace->json, '}');
}

void trace_begin(struct trace *trace, const char *program)
{
	note_launcher(trace, program);
	json_open(&trace->json, NULL, '{');
	put_text(trace, "program", NULL, program);
	json_open(&trace->json, "calls", '[');
}

void trace_call(struct trace *trace, const struct trace_record *record)
{
	struct site *site = find_site(trace, record);
	char *result = format_result(record);

	trace->calls++;
	site->calls++;
	site->duration += record->duration;
	if (has_failed(record))
		site->failures++;
	else
		left_account(&trace->left, record, site->number);
	json_open(&trace->json, NULL, '{');
	put_number(trace, "pid", "%llu ", (unsigned)record->pid);
	json_number(&trace->json, "tid", (unsigned)record->tid);
	put_text(trace, "function", "%s(", functions[record->verb].name);
	put_arguments(trace, record->arguments);
	put_text(trace, "result", ") = %s ", result);
	json_bool(&trace->json, "failed", has_failed(record));
	json_number(&trace->json, "start_ns", (long long)record->start);
	put_duration(trace, record->duration);
	put_became(trace, record);
	put_number(trace, "site", " [site %llu]\n", site->number);
	if (trace->is_json || site->calls == 1)
		put_stack(trace, record);
	json_close(&trace->json, '}');
	free(result);
}

/* ---- crashes ---- */

struct crash {
	pid_t process, thread;
	int number;
	const char *call;	/* NULL: in no legacy call */
	size_t place_count;
	const struct place *places[STACK_FRAMES];
};

static void put_crash(struct trace *trace, const struct crash *crash)
{
	unsigned int number = 0;

	json_open(&trace->json, NULL, '{');
	put_number(trace, "pid", "%llu", (unsigned)crash->process);
	put_number(trace, "tid", ", thread %llu,", (unsigned)crash->thread);
	put_number(trace, "signal", " dies by signal %llu", (unsigned)crash->number);
	put_text(trace, "reason", " (%s)", strsignal(crash->number));
	put_text(trace, "call", crash->call ? " in %s" : NULL, crash->call ? crash->call : "");
	if (!trace->is_json)
		fputs(":\n", trace->out);
	json_open(&trace->json, "backtrace", '[');
	for (size_t i = 0; i < crash->place_count; i++)
		put_frame(trace, crash->places[i], &number);
	json_close(&trace->json, ']');
	json_close(&trace->json, '}');
}

/* In JSON the calls stand in an array, which is not closed yet. */
void trace_crash(struct trace *trace, pid_t process, int number, const struct stack *stack)
{
	struct crash *crash;

	trace->crashes = extend(trace->crashes, trace->crash_count, sizeof(*trace->crashes));
	crash = &trace->crashes[trace->crash_count++];
	*crash = (struct crash){ process, stack->thread, number, stack_legacy_call(stack),
				 stack->frame_count, { NULL } };
	for (size_t i = 0; i < stack->frame_count; i++)
		crash->places[i] = stack_place(stack, i);
	if (!trace->is_json)
		put_crash(trace, crash);
}

/* ---- the end ---- */

static void put_site(struct trace *trace, const struct site *site)
{
	const struct trace_record *first = &site->first;

	json_open(&trace->json, NULL, '{');
	put_number(trace, "site", "%5llu", site->number);
	put_number(trace, "calls", " %7llu", site->calls);
	put_number(trace, "failures", " %7llu", site->failures);
	json_number(&trace->json, "duration_ns", (long long)site->duration);
	if (!trace->is_json)
		fprintf(trace->out, " %11.1f", (double)site->duration / 1e3);
	put_text(trace, "function", "  %-22s ", functions[first->verb].name);
	if (trace->is_json)
		put_stack(trace, first);
	else if (site->place)
		put_place(trace, site->place);
	else
		fputs("?\n", trace->out);
	put_text(trace, "modern", trace->port_to ? "      port to: %s\n" : NULL,
		 functions[first->verb].port);
	json_close(&trace->json, '}');
}

static void put_left(struct trace *trace, const struct left *left)
{
	bool domain = left->verb == VERB_ibv_open_xrc_domain;

	json_open(&trace->json, NULL, '{');
	put_text(trace, "what", NULL, domain ? "domain" : "registration");
	put_number(trace, "pid", "  process %llu", (unsigned)left->pid);
	if (!domain)
		put_number(trace, "qp", " stayed registered with QP 0x%06llx", left->qp_num);
	else if (!trace->is_json)
		fputs(" did not close a domain", trace->out);
	put_number(trace, "site", " [site %llu]:\n", left->site);
	put_stack(trace, &trace->sites[left->site - 1].first);
	json_close(&trace->json, '}');
}

/* What a user has to know of a trace in which calls are missing. */
static void print_reach(const struct trace *trace, bool reached_all, int status)
{
	if (!trace->started)
		fprintf(trace->out,
			"\nThe program did not start: exit status %d. A message on standard error says why.\n",
			status);
	else if (reached_all && !trace->calls)
		fputs("\nThe program made no legacy call.\n", trace->out);
	if (!trace->started || reached_all)
		return;
	if (trace->reached)
		fprintf(trace->out, "\nThe trace reached %u of the %u ranks that %s started.\n",
			trace->reached, trace->ranks, trace->launcher);
	else
		fprintf(trace->out,
			"\nThe trace did not reach the processes that %s started.\n",
			trace->launcher);
	fprintf(trace->out,
		"Put it behind the launcher: %s ... xrc-compat trace --output FILE.%%r PROGRAM\n",
		trace->launcher);
}

static void put_lists(struct trace *trace)
{
	if (!trace->is_json)
		fprintf(trace->out,
			"\n%lu legacy calls, by the place that makes them:\n%5s %7s %7s %11s  %-22s %s\n",
			trace->calls, "site", "calls", "failed", "us in all", "function",
			"called from");
	json_open(&trace->json, "sites", '[');
	for (size_t i = 0; i < trace->site_count; i++)
		put_site(trace, &trace->sites[i]);
	json_close(&trace->json, ']');
	if (!trace->is_json)
		fputs(trace->left.count ? "\nLeft behind:\n" : "\nNothing was left registered.\n",
		      trace->out);
	json_open(&trace->json, "crashes", '[');
	for (size_t i = 0; trace->is_json && i < trace->crash_count; i++)
		put_crash(trace, &trace->crashes[i]);
	json_close(&trace->json, ']');
	json_open(&trace->json, "left", '[');
	for (size_t i = 0; i < trace->left.count; i++)
		put_left(trace, &trace->left.item[i]);
	json_close(&trace->json, ']');
}

void trace_end(struct trace *trace, int status)
{
	bool reached_all = trace->reached ? trace->reached >= trace->ranks
					  : trace->calls || !trace->launcher[0];

	json_close(&trace->json, ']');
	if (!trace->is_json)
		print_reach(trace, reached_all, status);
	if (trace->is_json || trace->calls)
		put_lists(trace);
	put_text(trace, "launcher", NULL, trace->launcher);
	json_number(&trace->json, "ranks_reached", trace->reached);
	json_number(&trace->json, "ranks", trace->ranks);
	json_bool(&trace->json, "reached_all", reached_all);
	json_bool(&trace->json, "started", trace->started);
	json_number(&trace->json, "exit_status", (unsigned)status);
	json_close(&trace->json, '}');
}
