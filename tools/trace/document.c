/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Prints a trace as one JSON object. */
#include "trace.h"

#include <tools/text/memory.h>

#include <stdlib.h>
#include <string.h>

/* A function that is inlined has a row of its own. */
static void put_frame(struct json *json, const struct place *place)
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

static void put_stack(struct json *json, const struct trace_record *record)
{
	const struct place *place;
	uint32_t i = 0;

	json_open(json, "backtrace", '[');
	while ((place = next_place(record, &i)))
		put_frame(json, place);
	json_close(json, ']');
}

/* ---- while the program runs ---- */

static void document_begin(struct trace *trace, const char *program)
{
	json_open(&trace->json, NULL, '{');
	json_string(&trace->json, "program", program);
	json_open(&trace->json, "calls", '[');
}

void json_arguments(struct json *json, const char *argument)
{
	for (; *argument; argument += strlen(argument) + 1) {
		char *name = format_string("%.*s", (int)strcspn(argument, "="), argument);

		json_string(json, name, argument + strlen(name) + 1);
		free(name);
	}
}

static void document_became(struct json *json, const struct trace_record *record)
{
	json_open(json, "became", '[');
	EACH(became, record->became, record->became_count) {
		json_open(json, NULL, '{');
		json_string(json, "function", record->text + became->function);
		json_string(json, "error", became->err ? error_name(became->err) : NULL);
		json_number(json, "duration_ns", (long long)became->duration);
		json_close(json, '}');
	}
	json_close(json, ']');
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
	json_arguments(json, record->text);
	json_close(json, '}');
	json_string(json, "result", result);
	json_bool(json, "failed", record->err);
	json_number(json, "start_ns", (long long)record->start);
	json_number(json, "duration_ns", (long long)record->duration);
	document_became(json, record);
	json_number(json, "site", site->number);
	put_stack(json, record);
	json_close(json, '}');
}

/* ---- the end ---- */

static void put_site(struct json *json, const struct site *site)
{
	json_open(json, NULL, '{');
	json_number(json, "site", site->number);
	json_number(json, "calls", (long long)site->calls);
	json_number(json, "failures", (long long)site->failures);
	json_number(json, "duration_ns", (long long)site->duration);
	json_string(json, "function", site->function);
	put_stack(json, &site->first);
	json_string(json, "modern", site->port);
	json_close(json, '}');
}

static void document_crash(struct json *json, const struct crash *crash)
{
	json_open(json, NULL, '{');
	json_number(json, "pid", crash->process);
	json_number(json, "tid", crash->stack.thread);
	json_number(json, "signal", crash->number);
	json_string(json, "call", crash->stack.call);
	json_open(json, "backtrace", '[');
	for (size_t i = 0; i < crash->stack.frame_count; i++)
		put_frame(json, crash->stack.frame[i].place);
	json_close(json, ']');
	json_close(json, '}');
}

static void put_left(struct trace *trace, const struct left *left)
{
	struct json *json = &trace->json;

	json_open(json, NULL, '{');
	json_string(json, "what", left->qp_num ? "registration" : "domain");
	json_number(json, "pid", left->pid);
	if (left->qp_num)
		json_number(json, "qp", left->qp_num);
	json_number(json, "site", left->site);
	put_stack(json, &trace->sites[left->site - 1].first);
	json_close(json, '}');
}

static void document_end(struct trace *trace, int status)
{
	struct json *json = &trace->json;

	json_close(json, ']');
	json_open(json, "sites", '[');
	EACH(site, trace->sites, trace->site_count)
		put_site(json, site);
	json_close(json, ']');
	json_open(json, "crashes", '[');
	EACH(crash, trace->crashes, trace->crash_count)
		document_crash(json, crash);
	json_close(json, ']');
	json_open(json, "left", '[');
	EACH(left, trace->left, trace->left_count)
		put_left(trace, left);
	json_close(json, ']');
	json_string(json, "launcher", trace->launcher);
	json_number(json, "ranks_reached", trace->reached);
	json_number(json, "ranks", trace->ranks);
	json_bool(json, "reached_all", trace->reached_all);
	json_bool(json, "started", trace->started);
	json_number(json, "exit_status", status);
	json_close(json, '}');
}

const struct printer json_printer = { document_begin, NULL, document_call, NULL, document_end };
