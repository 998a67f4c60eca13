/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Prints a trace as one JSON object. */
#include "trace.h"

#include <tools/text/memory.h>

#include <stdlib.h>
#include <string.h>

/* A function that is inlined has a row of its own. */
static void print_frame(struct json *json, const struct place *place)
{
	for (; place; place = place->outer) {
		json_open(json, NULL, '{');
		json_string(json, "module", place->module);
		json_number(json, "offset", (long long)place->offset);
		json_string(json, "symbol", place->symbol);
		json_string(json, "line", place->line);
		json_close(json, '}');
	}
}

static void print_stack(struct json *json, const struct trace_record *record)
{
	const struct place *place;
	uint32_t i = 0;

	json_open(json, "backtrace", '[');
	while ((place = next_place(record, &i)))
		print_frame(json, place);
	json_close(json, ']');
}

/* ---- while the program runs ---- */

static void document_begin(struct trace *trace, const char *program)
{
	json_open(&trace->json, NULL, '{');
	json_string(&trace->json, "program", program);
	json_open(&trace->json, "calls", '[');
}

void print_json_arguments(struct json *json, const char *argument)
{
	for (; *argument; argument += strlen(argument) + 1) {
		char *name = format_string("%.*s", (int)strcspn(argument, "="), argument);

		json_string(json, name, argument + strlen(name) + 1);
		free(name);
	}
}

static void print_modern_calls(struct json *json, const struct trace_record *record)
{
	json_open(json, "became", '[');
	EACH(modern, record->modern_calls, record->modern_call_count) {
		json_open(json, NULL, '{');
		json_string(json, "function", record->text + modern->function);
		json_string(json, "error", modern->err ? error_name(modern->err) : NULL);
		json_number(json, "duration_ns", (long long)modern->duration);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_number(json, "became_more", record->more_modern_calls);
}

static void document_call(struct trace *trace, const struct trace_record *record,
			  const struct site *site, const char *result)
{
	struct json *json = &trace->json;

	json_open(json, NULL, '{');
	json_number(json, "pid", record->pid);
	json_number(json, "tid", record->tid);
	json_string(json, "function", site->function);
	json_open(json, "arguments", '{');
	print_json_arguments(json, record->text);
	json_close(json, '}');
	json_string(json, "result", result);
	json_bool(json, "failed", record->err);
	json_number(json, "start_ns", (long long)record->start);
	json_number(json, "duration_ns", (long long)record->duration);
	print_modern_calls(json, record);
	json_number(json, "site", site->number);
	print_stack(json, record);
	json_close(json, '}');
}

/* ---- the end ---- */

static void print_site(struct json *json, const struct site *site)
{
	json_open(json, NULL, '{');
	json_number(json, "site", site->number);
	json_number(json, "calls", (long long)site->calls);
	json_number(json, "failures", (long long)site->failures);
	json_number(json, "duration_ns", (long long)site->duration);
	json_string(json, "function", site->function);
	print_stack(json, &site->first);
	json_string(json, "modern", site->port);
	json_close(json, '}');
}

static void print_crash(struct json *json, const struct crash *crash)
{
	json_open(json, NULL, '{');
	json_number(json, "pid", crash->process);
	json_number(json, "tid", crash->stack.thread);
	json_number(json, "signal", crash->number);
	json_string(json, "call", crash->stack.call);
	json_open(json, "backtrace", '[');
	for (size_t i = 0; i < crash->stack.frame_count; i++)
		print_frame(json, crash->stack.frame[i].place);
	json_close(json, ']');
	json_close(json, '}');
}

static void print_leftover(struct trace *trace, const struct leftover *leftover)
{
	struct json *json = &trace->json;

	json_open(json, NULL, '{');
	json_string(json, "what", leftover->qp_num ? "registration" : "domain");
	json_number(json, "pid", leftover->pid);
	if (leftover->qp_num)
		json_number(json, "qp", leftover->qp_num);
	else
		json_string(json, "qp", NULL);
	json_number(json, "site", leftover->site);
	print_stack(json, &trace->sites[leftover->site - 1].first);
	json_close(json, '}');
}

static void document_end(struct trace *trace, int status)
{
	struct json *json = &trace->json;

	json_close(json, ']');
	json_open(json, "sites", '[');
	EACH(site, trace->sites, trace->site_count)
		print_site(json, site);
	json_close(json, ']');
	json_open(json, "crashes", '[');
	EACH(crash, trace->crashes, trace->crash_count)
		print_crash(json, crash);
	json_close(json, ']');
	json_open(json, "left", '[');
	EACH(leftover, trace->leftovers, trace->leftover_count)
		print_leftover(trace, leftover);
	json_close(json, ']');
	json_string(json, "launcher", trace->launcher);
	json_number(json, "ranks_reached", trace->reached);
	if (trace->reached && !trace->ranks)
		json_string(json, "ranks", NULL);
	else
		json_number(json, "ranks", trace->ranks);
	json_bool(json, "reached_all", trace->reached_all);
	json_bool(json, "started", trace->started);
	json_number(json, "exit_status", status);
	json_close(json, '}');
}

const struct printer document_printer = { .begin = document_begin, .call = document_call,
					  .end = document_end };
