/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes a trace as text. */
#include "trace_print.h"
#include "places.h"
#include "tools/common/text.h"
#include "trace_decode.h"

#include <stdio.h>
#include <string.h>

#define PLACE_SIZE 768

/* "function+0x12 (file.c:34)" of a frame. */
static void write_place(const struct trace_frame *frame, char *text, size_t size)
{
	const struct place *found = place_of(frame);
	int used;

	if (found->symbol[0])
		used = snprintf(text, size, "%s+0x%llx", found->symbol,
				(unsigned long long)found->symbol_offset);
	else
		used = snprintf(text, size, "0x%llx", (unsigned long long)frame->offset);
	if (used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used, " (%s%s%s)", found->line,
			 found->line[0] ? ", " : "", basename(frame->module));
	text_clean(text);
}

/* Microseconds up to 999, then milliseconds. */
static void print_duration(FILE *out, uint64_t nanoseconds)
{
	if (nanoseconds < 1000000)
		fprintf(out, "%.1f us", (double)nanoseconds / 1e3);
	else
		fprintf(out, "%.1f ms", (double)nanoseconds / 1e6);
}

static void print_stack(FILE *out, const struct trace_record *record, const char *indent)
{
	char place[PLACE_SIZE];

	for (uint32_t i = 0; i < record->frame_count; i++) {
		write_place(&record->frames[i], place, sizeof(place));
		fprintf(out, "%s#%u %s\n", indent, i, place);
	}
}

/* What the call became: "[ibv_open_qp = EINVAL <3.1 us>, ibv_create_qp_ex <20.0 us>]". */
static void print_became(FILE *out, const struct trace_record *record)
{
	uint32_t kept = trace_became_kept(record);

	fputs(" [", out);
	for (uint32_t i = 0; i < kept; i++) {
		const struct trace_became *became = &record->became[i];

		fprintf(out, "%s%s%s%s <", i ? ", " : "", became->function,
			became->err ? " = " : "", became->err ? trace_error_name(became->err) : "");
		print_duration(out, became->duration);
		fputc('>', out);
	}
	if (!kept)
		fputs("nothing", out);
	if (record->became_count > kept)
		fprintf(out, ", %u more", record->became_count - kept);
	fputc(']', out);
}

void trace_print_call(FILE *out, const struct trace_record *record, const struct trace_site *site,
		      bool with_stack)
{
	struct trace_argument arguments[TRACE_ARGUMENTS];
	size_t count = trace_arguments(record, arguments);
	char result[128];

	trace_result(record, result, sizeof(result));
	fprintf(out, "%d %s(", record->pid, trace_function(record->verb));
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s=%s", i ? ", " : "", arguments[i].name, arguments[i].value);
	fprintf(out, ") = %s <", result);
	print_duration(out, record->duration);
	fputc('>', out);
	print_became(out, record);
	fprintf(out, " [site %u]\n", site->number);
	if (with_stack)
		print_stack(out, record, "        ");
}

static void first_place(const struct trace_record *record, char *place, size_t size)
{
	snprintf(place, size, "?");
	if (record->frame_count)
		write_place(&record->frames[0], place, size);
}

static void describe_left(const struct trace_record *record, char *text, size_t size)
{
	if (record->verb == VERB_ibv_open_xrc_domain)
		snprintf(text, size, "process %d did not close a domain", record->pid);
	else
		snprintf(text, size, "process %d stayed registered with QP 0x%06x, which it %s",
			 record->pid, record->qp_num,
			 record->verb == VERB_ibv_reg_xrc_rcv_qp ? "registered with" : "created");
}

static void print_sites(FILE *out, const struct trace_census *census)
{
	fprintf(out,
		"\n%lu legacy calls, by the place that makes them:\n%5s %7s %7s %11s  %-22s %s\n",
		census->calls, "site", "calls", "failed", "us in all", "function", "called from");
	for (const struct trace_site *site = census->sites; site; site = site->next) {
		char place[PLACE_SIZE];

		first_place(&site->first, place, sizeof(place));
		fprintf(out, "%5u %7lu %7lu %11.1f  %-22s %s\n", site->number, site->calls,
			site->failures, (double)site->duration / 1e3,
			trace_function(site->first.verb), place);
	}
}

static bool is_called(const struct trace_census *census, enum verb call)
{
	for (const struct trace_site *site = census->sites; site; site = site->next) {
		if (site->first.verb == call)
			return true;
	}
	return false;
}

/* "ibv_open_qp 3 times (1 failed), ..." */
static void print_verbs(FILE *out, const struct trace_verb *verbs)
{
	for (const struct trace_verb *verb = verbs; verb < verbs + TRACE_VERBS && verb->calls;
	     verb++) {
		fprintf(out, "%s%s %lu time%s", verb == verbs ? "" : ", ", verb->function,
			verb->calls, verb->calls == 1 ? "" : "s");
		if (verb->failures)
			fprintf(out, " (%lu failed)", verb->failures);
	}
	if (!verbs->calls)
		fputs("nothing", out);
}

static void print_functions(FILE *out, const struct trace_census *census, bool port_to)
{
	fprintf(out, "\nWhat they became here%s:\n", port_to ? ", and what to port them to" : "");
	for (enum verb call = 0; call < VERBS; call++) {
		if (!is_called(census, call))
			continue;
		fprintf(out, "  %s\n      here: ", trace_function(call));
		print_verbs(out, census->became[call]);
		fputc('\n', out);
		if (port_to)
			fprintf(out, "      port to: %s\n", trace_port(call));
	}
}

static void print_unreached(FILE *out, const struct trace_census *census)
{
	const char *launcher = census->launcher;

	if (census->reached)
		fprintf(out, "\nThe trace reached %u of the %u ranks that %s started.\n",
			census->reached, census->ranks, launcher);
	else
		fprintf(out, "\nThe trace did not reach the processes that %s started.\n",
			launcher);
	fprintf(out,
		"Put it behind the launcher: %s ... xrc-compat trace --output FILE.%%r PROGRAM\n",
		launcher);
}

void trace_print_end(FILE *out, const struct trace_census *census, int status, bool port_to)
{
	if (!census->started) {
		fprintf(out,
			"\nThe program did not start: exit status %d. A message on standard error says why.\n",
			status);
		return;
	}
	if (!trace_reached_all(census))
		print_unreached(out, census);
	else if (!census->calls)
		fputs("\nThe program made no legacy call.\n", out);
	if (!census->calls)
		return;
	print_sites(out, census);
	print_functions(out, census, port_to);
	fputs(census->left ? "\nLeft behind:\n" : "\nNothing was left registered.\n", out);
	for (const struct trace_left *left = census->left; left; left = left->next) {
		char text[128];

		describe_left(&left->record, text, sizeof(text));
		fprintf(out, "  %s [site %u]:\n", text, left->site->number);
		print_stack(out, &left->record, "        ");
	}
	fflush(out);
}
