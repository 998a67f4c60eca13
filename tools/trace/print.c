/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes a trace: calls as they come, then the places that made them. */
#include "tools/common/memory.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_SIZE 768
#define RESULT_SIZE (sizeof(((struct trace_record *)NULL)->outcome) + 64)

static const struct {
	const char *name, *port;
	bool returns_pointer;
} functions[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, port, returns == RETURNS_NULL },
	ABI_FUNCTIONS(X)
#undef X
};

/* "EINVAL", or what strerror(3) says of a rare one. */
static const char *error_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
#define NAME(err) { err, #err }
		NAME(EINVAL), NAME(EBUSY), NAME(EAGAIN), NAME(ENOSYS), NAME(ENOMEM), NAME(EBADF),
		NAME(EFAULT), NAME(ENOSPC), NAME(EPERM), NAME(EACCES), NAME(ENODEV), NAME(EIO),
		NAME(EOPNOTSUPP), NAME(EINTR),
#undef NAME
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].err == err)
			return names[i].name;
	}
	return strerror(err);
}

/* What came back, with the errno by name, and what was made. */
static void write_result(const struct trace_record *record, char *text)
{
	bool pointer = functions[record->verb].returns_pointer;

	if (trace_failed(record))
		snprintf(text, RESULT_SIZE, pointer ? "NULL, errno %s" : "%s",
			 error_name(pointer ? record->err : (int)record->result));
	else
		snprintf(text, RESULT_SIZE, pointer ? "%#llx%s" : "%lld%s",
			 (unsigned long long)record->result, record->outcome);
}

/* ---- one fact, as a member of JSON or as a piece of text; without a format in JSON only ---- */

static void open_group(struct trace_writer *writer, const char *key, char bracket)
{
	if (writer->is_json)
		json_open(&writer->json, key, bracket);
}

static void close_group(struct trace_writer *writer, char bracket)
{
	if (writer->is_json)
		json_close(&writer->json, bracket);
}

static void put_number(struct trace_writer *writer, const char *key, const char *format,
		       unsigned long long value)
{
	if (writer->is_json)
		json_number(&writer->json, key, (long long)value);
	else if (format)
		fprintf(writer->out, format, value);
}

/* "" becomes null in JSON. */
static void put_text(struct trace_writer *writer, const char *key, const char *format,
		     const char *value)
{
	if (writer->is_json)
		json_string(&writer->json, key, value[0] ? value : NULL);
	else if (format)
		fprintf(writer->out, format, value);
}

/* In text: microseconds up to 999, then milliseconds. */
static void put_duration(struct trace_writer *writer, uint64_t nanoseconds)
{
	put_number(writer, "duration_ns", NULL, nanoseconds);
	if (!writer->is_json && nanoseconds < 1000000)
		fprintf(writer->out, "<%.1f us>", (double)nanoseconds / 1e3);
	else if (!writer->is_json)
		fprintf(writer->out, "<%.1f ms>", (double)nanoseconds / 1e6);
}

/* ---- places ---- */

/* "function+0x12 (file.c:34)" */
static void print_place(FILE *out, const struct trace_frame *frame)
{
	const struct place *found = place_of(frame);

	if (found->symbol[0])
		fprintf(out, "%s+%#llx", found->symbol, (unsigned long long)found->symbol_offset);
	else
		fprintf(out, "%#llx", (unsigned long long)frame->offset);
	fprintf(out, " (%s%s%s)\n", found->line, found->line[0] ? ", " : "",
		basename(found->module));
}

static void put_frame(struct trace_writer *writer, const struct trace_frame *frame)
{
	const struct place *place = place_of(frame);

	open_group(writer, NULL, '{');
	put_text(writer, "module", NULL, place->module);
	put_number(writer, "offset", NULL, frame->offset);
	put_text(writer, "symbol", NULL, place->symbol);
	put_number(writer, "symbol_offset", NULL, place->symbol_offset);
	put_text(writer, "line", NULL, place->line);
	close_group(writer, '}');
}

static void put_stack(struct trace_writer *writer, const struct trace_record *record)
{
	open_group(writer, "backtrace", '[');
	for (uint32_t i = 0; i < record->frame_count; i++) {
		if (writer->is_json) {
			put_frame(writer, &record->frames[i]);
		} else {
			fprintf(writer->out, "        #%u ", i);
			print_place(writer->out, &record->frames[i]);
		}
	}
	close_group(writer, ']');
}

/* ---- calls ---- */

/* In text: "[ibv_open_qp = EINVAL <3.1 us>, ibv_create_qp_ex <20.0 us>]". */
static void put_became(struct trace_writer *writer, const struct trace_record *record)
{
	uint32_t kept = trace_became_kept(record);

	open_group(writer, "became", '[');
	for (uint32_t i = 0; i < kept; i++) {
		const struct trace_became *became = &record->became[i];

		open_group(writer, NULL, '{');
		put_text(writer, "function", i ? ", %s" : " [%s", became->function);
		put_text(writer, "error", became->err ? " = %s " : " ",
			 became->err ? error_name(became->err) : "");
		put_duration(writer, became->duration);
		close_group(writer, '}');
	}
	close_group(writer, ']');
	if (writer->is_json)
		return;
	fputs(kept ? "" : " [nothing", writer->out);
	if (record->became_count > kept)
		fprintf(writer->out, ", %u more", record->became_count - kept);
	fputc(']', writer->out);
}

static void put_arguments(struct trace_writer *writer, const char *argument)
{
	const char *separator = "";

	open_group(writer, "arguments", '{');
	for (; *argument; argument += strlen(argument) + 1) {
		char *name = format_string("%.*s", (int)strcspn(argument, "="), argument);

		if (writer->is_json)
			put_text(writer, name, NULL, argument + strlen(name) + 1);
		else
			fprintf(writer->out, "%s%s", separator, argument);
		separator = ", ";
		free(name);
	}
	close_group(writer, '}');
}

void trace_write_begin(struct trace_writer *writer, const char *program)
{
	open_group(writer, NULL, '{');
	put_text(writer, "program", NULL, program);
	open_group(writer, "calls", '[');
}

void trace_write_call(struct trace_writer *writer, const struct trace_record *record,
		      const struct trace_site *site)
{
	char result[RESULT_SIZE];

	write_result(record, result);
	open_group(writer, NULL, '{');
	put_number(writer, "pid", "%llu ", (unsigned)record->pid);
	put_number(writer, "tid", NULL, (unsigned)record->tid);
	put_text(writer, "function", "%s(", functions[record->verb].name);
	put_arguments(writer, record->arguments);
	put_text(writer, "result", ") = %s ", result);
	if (writer->is_json)
		json_bool(&writer->json, "failed", trace_failed(record));
	put_number(writer, "start_ns", NULL, record->start);
	put_duration(writer, record->duration);
	put_became(writer, record);
	put_number(writer, "site", " [site %llu]\n", site->number);
	if (writer->is_json || site->calls == 1)
		put_stack(writer, record);
	close_group(writer, '}');
}

/* ---- the end ---- */

static void put_site(struct trace_writer *writer, const struct trace_site *site)
{
	const struct trace_record *first = &site->first;

	open_group(writer, NULL, '{');
	put_number(writer, "site", "%5llu", site->number);
	put_number(writer, "calls", " %7llu", site->calls);
	put_number(writer, "failures", " %7llu", site->failures);
	put_number(writer, "duration_ns", NULL, site->duration);
	if (!writer->is_json)
		fprintf(writer->out, " %11.1f", (double)site->duration / 1e3);
	put_text(writer, "function", "  %-22s ", functions[first->verb].name);
	if (writer->is_json)
		put_stack(writer, first);
	else if (first->frame_count)
		print_place(writer->out, &first->frames[0]);
	else
		fputs("?\n", writer->out);
	put_text(writer, "modern", writer->port_to ? "      port to: %s\n" : NULL,
		 functions[first->verb].port);
	close_group(writer, '}');
}

/* What a user has to know of a trace in which calls are missing. */
static void print_reach(FILE *out, const struct trace_census *census, int status)
{
	const char *launcher = census->launcher;

	if (!census->started)
		fprintf(out,
			"\nThe program did not start: exit status %d. A message on standard error says why.\n",
			status);
	else if (trace_reached_all(census) && !census->calls)
		fputs("\nThe program made no legacy call.\n", out);
	if (!census->started || trace_reached_all(census))
		return;
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

static void put_sites(struct trace_writer *writer, const struct trace_census *census)
{
	if (!writer->is_json)
		fprintf(writer->out,
			"\n%lu legacy calls, by the place that makes them:\n%5s %7s %7s %11s  %-22s %s\n",
			census->calls, "site", "calls", "failed", "us in all", "function",
			"called from");
	open_group(writer, "sites", '[');
	for (size_t i = 0; i < census->site_count; i++)
		put_site(writer, census->sites[i]);
	close_group(writer, ']');
}

void trace_write_end(struct trace_writer *writer, const struct trace_census *census, int status)
{
	close_group(writer, ']');
	if (!writer->is_json)
		print_reach(writer->out, census, status);
	if (writer->is_json || census->calls)
		put_sites(writer, census);
	put_text(writer, "launcher", NULL, census->launcher);
	put_number(writer, "ranks_reached", NULL, census->reached);
	put_number(writer, "ranks", NULL, census->ranks);
	if (writer->is_json) {
		json_bool(&writer->json, "reached_all", trace_reached_all(census));
		json_bool(&writer->json, "started", census->started);
	}
	put_number(writer, "exit_status", NULL, (unsigned)status);
	close_group(writer, '}');
}
