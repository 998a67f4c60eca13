/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat trace`: runs a program as `run` does. A second library reports every legacy call. */
#include "trace.h"

#include <tools/files/output.h>
#include <tools/job/launchers.h>
#include <tools/text/command.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>
#include <tools/text/streams.h>
#include <tools/text/text.h>

#include <dlfcn.h>
#include <string.h>

static struct {
	const char *output, *perfetto;
	bool is_json;
	struct launch launch;
	/* While it runs: */
	const char *out_name;
	char *text;		/* the JSON document, if it goes to a standard stream */
	size_t text_size;
	struct trace trace;
} tracing;

/* ---- output ---- */

static int open_output(const char *pattern)
{
	struct trace *trace = &tracing.trace;
	static char line[1 << 14];

	trace->out = output_open(pattern ? pattern : "/dev/stderr", "trace", &tracing.out_name);
	if (!trace->out)
		return TOOL_EXIT_REFUSED;
	/* Has room for the events of a call. The program's output must not fall into a line. */
	setvbuf(trace->out, line, pattern ? _IOFBF : _IOLBF, sizeof(line));
	/* In memory only if the program may write to the same stream: it grows with each call. */
	trace->json.out = tracing.perfetto || tracing.is_json ? trace->out : NULL;
	if (trace->json.out && (!pattern || text_matches(pattern, "/dev/std*")))
		trace->json.out = need_memory(open_memstream(&tracing.text, &tracing.text_size));
	return 0;
}

/* On a standard stream a JSON document comes after all output of the program. */
static int close_output(int status)
{
	FILE *out = tracing.trace.out, *json = tracing.trace.json.out;
	const char *why = json && json != out ? streams_close(json) : NULL;

	if (json && json != out && !why)
		fwrite(tracing.text, 1, tracing.text_size, out);
	why = why ? why : streams_close(out);
	return !why ? status
		    : refuse(TOOL_EXIT_REFUSED, "cannot write the trace to %s: %s",
			     tracing.out_name, why);
}

/* ---- the command ---- */

static int run_trace(char **words)
{
	const char *pattern = tracing.perfetto ? tracing.perfetto : tracing.output;
	int status;

	if (tracing.perfetto && (tracing.is_json || tracing.output))
		return refuse(TOOL_EXIT_REFUSED,
			      "trace: --perfetto goes neither with --json nor with --output");
	tracing.launch.program = words;
	if (pattern && strstr(pattern, "%r") && find_launcher(words[0]))
		say("trace: in front of a launcher %%r is no rank; for a file for each rank: %s ... xrc-compat trace "
		    "%s %s PROGRAM", basename(words[0]),
		    tracing.perfetto ? "--perfetto" : "--output", pattern);
	status = open_output(pattern);
	if (status)
		return status;
	tracing.trace.printer = tracing.perfetto  ? &events_printer
				: tracing.is_json ? &document_printer
						  : &text_printer;
	trace_begin(&tracing.trace, words[0]);
	status = trace_follow(&tracing.trace, &tracing.launch);
	trace_end(&tracing.trace, status);
	return close_output(status);
}

static void explain_walk(void)
{
	const char *walk = "backtrace(3) walks the stacks: this build uses no libunwind";
#ifdef TRACE_LIBUNWIND
	bool found = dlopen(TRACE_LIBUNWIND, RTLD_LAZY | RTLD_LOCAL) != NULL;

	walk = found ? "libunwind walks the stacks"
		     : "backtrace(3) walks the stacks: there is no " TRACE_LIBUNWIND;
#endif
	print_text(stdout, "\nIn %zu-bit programs %s.\n", 8 * sizeof(void *), walk);
}

static const struct option_row options[] = {
	LAUNCH_OPTIONS(tracing.launch),
	{ "--output", "FILE",
	  "write the trace there instead of to standard error. %p is replaced by the process, %h by the host, %r by "
	  "the MPI rank. A file that is there already is kept: FILE.1, FILE.2, ... is written instead. Links, FIFOs and "
	  "devices are refused, but for /dev/stdout and /dev/stderr",
	  .text = &tracing.output },
	{ "--json", NULL, "write one JSON object, which is complete when the program has ended",
	  .flag = &tracing.is_json },
	{ "--perfetto", "FILE",
	  "write the calls there as events that ui.perfetto.dev and chrome://tracing show, named as by --output",
	  .text = &tracing.perfetto },
	{ "--port-to", NULL, "say at the end what to port each function to",
	  .flag = &tracing.trace.port_to },
	{ 0 },
};

const struct command command_trace = {
	"trace", options, "[--] PROGRAM [ARGUMENT...]", "run a program, and show every legacy call",
	"mpirun -n 4 xrc-compat trace --output trace.%r ./old-solver", run_trace, .launches = true,
	.needs_program = true, .more_help = explain_walk,
};
