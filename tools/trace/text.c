/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Prints a trace as text. */
#include "trace.h"

#include <tools/text/memory.h>
#include <tools/text/message.h>

#include <string.h>

#define INDENT "        "

static void print_stack(FILE *out, const struct trace_record *record)
{
	const struct place *place;
	unsigned int number = 0;
	uint32_t i = 0;

	while ((place = next_place(record, &i)))
		place_print_all(out, INDENT, place, &number);
}

/* ---- while the program runs ---- */

static void print_arguments(FILE *out, const char *argument)
{
	const char *separator = "";

	for (; *argument; argument += strlen(argument) + 1) {
		print_text(out, "%s%s", separator, argument);
		separator = ", ";
	}
}

/* A double would take longer to print than the rest of the line. */
static void print_duration(FILE *out, uint64_t ns)
{
	print_text(out, " <%llu.%llu us>", (unsigned long long)ns / 1000,
		   (unsigned long long)ns / 100 % 10);
}

/* "[ibv_open_qp = EINVAL <3.1 us>, ibv_create_qp_ex <20.0 us>]" */
static void print_modern_calls(FILE *out, const struct trace_record *record)
{
	fputs(record->modern_call_count ? "[" : "[nothing", out);
	EACH(modern, record->modern_calls, record->modern_call_count) {
		print_text(out, "%s%s", modern == record->modern_calls ? "" : ", ",
			   record->text + modern->function);
		if (modern->err)
			print_text(out, " = %s", error_name(modern->err));
		print_duration(out, modern->duration);
	}
	if (record->more_modern_calls)
		print_text(out, ", and %u more", record->more_modern_calls);
	putc(']', out);
}

static void text_call(struct trace *trace, const struct trace_record *record,
		      const struct site *site, const char *result)
{
	FILE *out = trace->out;

	print_text(out, "%u %s(", (unsigned)record->pid, site->function);
	print_arguments(out, record->text);
	print_text(out, ") = %s", result);
	print_duration(out, record->duration);
	putc(' ', out);
	print_modern_calls(out, record);
	print_text(out, " [site %u]\n", site->number);
	if (site->calls == 1)
		print_stack(out, record);
}

static void text_crash(struct trace *trace, const struct crash *crash)
{
	unsigned int number = 0;

	print_text(trace->out, "%d, thread %d, dies by signal %d (%s)%s%s:\n", (int)crash->process,
		   (int)crash->stack.thread, crash->number, strsignal(crash->number),
		   crash->stack.call ? " in " : "", crash->stack.call ? crash->stack.call : "");
	for (size_t i = 0; i < crash->stack.frame_count; i++)
		place_print_all(trace->out, INDENT, crash->stack.frame[i].place, &number);
}

/* ---- the end ---- */

static void print_site(const struct trace *trace, const struct site *site)
{
	print_text(trace->out, "%5u %7lu %7lu %11.1f  %-22s ", site->number, site->calls,
		   site->failures, (double)site->duration / 1e3, site->function);
	if (site->place)
		place_print(trace->out, site->place);
	else
		fputs("?\n", trace->out);
	if (trace->port_to)
		print_text(trace->out, "      port to: %s\n", site->port);
}

static void print_leftover(const struct trace *trace, const struct leftover *leftover)
{
	print_text(trace->out, "  process %u ", (unsigned)leftover->pid);
	if (leftover->qp_num)
		print_text(trace->out, "stayed registered with QP 0x%06x", leftover->qp_num);
	else
		fputs("did not close a domain", trace->out);
	print_text(trace->out, " [site %u]:\n", leftover->site);
	print_stack(trace->out, &trace->sites[leftover->site - 1].first);
}

void print_reach(FILE *out, const struct trace *trace, int status)
{
	if (!trace->started)
		print_text(out, "\nThe program did not start: exit status %d. A message on standard error says why.\n",
			   status);
	else if (trace->reached_all && !trace->calls)
		fputs("\nThe program made no legacy call.\n", out);
	if (!trace->started || trace->reached_all)
		return;
	if (trace->reached)
		print_text(out, "\nThe trace reached %u of %s ranks that %s started.\n", trace->reached,
			   trace->ranks ? format_string("the %u", trace->ranks)
					: "an unknown number of", trace->launcher);
	else
		print_text(out, "\nThe trace did not reach the processes that %s started.\n",
			   trace->launcher);
	print_text(out, "Put it behind the launcher: %s ... xrc-compat trace %s FILE.%%r PROGRAM\n",
		   trace->launcher, trace->printer == &events_printer ? "--perfetto" : "--output");
}

static void text_end(struct trace *trace, int status)
{
	FILE *out = trace->out;

	print_reach(out, trace, status);
	if (!trace->calls)
		return;
	print_text(out, "\n%lu legacy calls, by the place that makes them:\n", trace->calls);
	print_text(out, "%5s %7s %7s %11s  %-22s %s\n", "site", "calls", "failed", "us in all",
		   "function", "called from");
	EACH(site, trace->sites, trace->site_count)
		print_site(trace, site);
	fputs(trace->leftover_count ? "\nLeft behind:\n" : "\nNothing was left registered.\n", out);
	EACH(leftover, trace->leftovers, trace->leftover_count)
		print_leftover(trace, leftover);
}

const struct printer text_printer = { .call = text_call, .crash = text_crash, .end = text_end };
