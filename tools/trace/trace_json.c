/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes a trace as JSON. */
#include "places.h"
#include "tools/common/text.h"
#include "trace_decode.h"
#include "trace_print.h"

#include <stdio.h>
#include <string.h>

static void json_text(struct json *json, const char *key, const char *text)
{
	char clean[512] = "";

	strncat(clean, text, sizeof(clean) - 1);
	text_clean(clean);
	json_string(json, key, clean[0] ? clean : NULL);
}

static void json_stack(struct json *json, const struct trace_record *record)
{
	json_open(json, "backtrace", '[');
	for (uint32_t i = 0; i < record->frame_count; i++) {
		const struct trace_frame *frame = &record->frames[i];
		const struct place *place = place_of(frame);

		json_open(json, NULL, '{');
		json_text(json, "module", frame->module);
		json_number(json, "offset", (long long)frame->offset);
		json_text(json, "symbol", place->symbol);
		json_number(json, "symbol_offset", (long long)place->symbol_offset);
		json_text(json, "line", place->line);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_became(struct json *json, const struct trace_record *record)
{
	json_open(json, "became", '[');
	for (uint32_t i = 0; i < trace_became_kept(record); i++) {
		const struct trace_became *became = &record->became[i];

		json_open(json, NULL, '{');
		json_string(json, "function", became->function);
		json_string(json, "error", became->err ? trace_error_name(became->err) : NULL);
		json_number(json, "duration_ns", (long long)became->duration);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void trace_json_call(struct json *json, const struct trace_record *record,
		     const struct trace_site *site)
{
	struct trace_argument arguments[TRACE_ARGUMENTS];
	size_t count = trace_arguments(record, arguments);
	char result[128];

	json_open(json, NULL, '{');
	json_number(json, "pid", record->pid);
	json_number(json, "tid", record->tid);
	json_string(json, "function", trace_function(record->verb));
	json_open(json, "arguments", '{');
	for (size_t i = 0; i < count; i++)
		json_string(json, arguments[i].name, arguments[i].value);
	json_close(json, '}');
	trace_result(record, result, sizeof(result));
	json_string(json, "result", result);
	json_bool(json, "failed", trace_failed(record));
	json_number(json, "start_ns", (long long)record->start);
	json_number(json, "duration_ns", (long long)record->duration);
	json_became(json, record);
	json_number(json, "site", site->number);
	json_stack(json, record);
	json_close(json, '}');
}

static void json_site(struct json *json, const struct trace_site *site)
{
	json_open(json, NULL, '{');
	json_number(json, "site", site->number);
	json_string(json, "function", trace_function(site->first.verb));
	json_string(json, "modern", trace_port(site->first.verb));
	json_number(json, "calls", (long long)site->calls);
	json_number(json, "failures", (long long)site->failures);
	json_number(json, "duration_ns", (long long)site->duration);
	json_stack(json, &site->first);
	json_close(json, '}');
}

static void json_verb(struct json *json, enum verb call, const struct trace_verb *verb)
{
	json_open(json, NULL, '{');
	json_string(json, "legacy", trace_function(call));
	json_string(json, "function", verb->function);
	json_number(json, "calls", (long long)verb->calls);
	json_number(json, "failures", (long long)verb->failures);
	json_number(json, "duration_ns", (long long)verb->duration);
	json_close(json, '}');
}

static void json_verbs(struct json *json, const struct trace_census *census)
{
	json_open(json, "became", '[');
	for (enum verb call = 0; call < VERBS; call++) {
		for (size_t i = 0; i < TRACE_VERBS && census->became[call][i].calls; i++)
			json_verb(json, call, &census->became[call][i]);
	}
	json_close(json, ']');
}

static void json_left(struct json *json, const struct trace_left *left)
{
	bool domain = left->record.verb == VERB_ibv_open_xrc_domain;

	json_open(json, NULL, '{');
	json_string(json, "what", domain ? "domain" : "registration");
	json_number(json, "pid", left->record.pid);
	if (!domain)
		json_number(json, "qp", left->record.qp_num);
	json_number(json, "site", left->site->number);
	json_stack(json, &left->record);
	json_close(json, '}');
}

void trace_json_end(struct json *json, const struct trace_census *census)
{
	json_open(json, "sites", '[');
	for (const struct trace_site *site = census->sites; site; site = site->next)
		json_site(json, site);
	json_close(json, ']');
	json_verbs(json, census);
	json_open(json, "left", '[');
	for (const struct trace_left *left = census->left; left; left = left->next)
		json_left(json, left);
	json_close(json, ']');
	json_string(json, "launcher", census->launcher[0] ? census->launcher : NULL);
	json_number(json, "ranks_reached", census->reached);
	json_number(json, "ranks", census->ranks);
	json_bool(json, "reached_all", trace_reached_all(census));
}
