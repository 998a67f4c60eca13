/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat report`: reads the options, and executes the script that writes the report. */
#include <tools/files/output.h>
#include <tools/files/paths.h>
#include <tools/run/run.h>
#include <tools/text/command.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>
#include <tools/text/text.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SCRIPT_OUTPUT 9	/* as in report.sh.in */

static const char *output = "xrc-compat-report.md";
static struct launch launch;	/* options for the self-test */

/* The option as the self-test takes it; "" if it was not given. */
static const char *option_word(const char *name, const char *value)
{
	return value ? format_string("%s%s%s", name, value[0] ? "=" : "", value) : "";
}

static int run_report(char **operands)
{
	const char *script = paths_helper("report/xrc-compat-report"), *name;
	FILE *file;

	if (!script)
		return refuse_missing("xrc-compat-report", "xrc-compat");
	if (access(script, X_OK)) /* before there is a file */
		return refuse(TOOL_EXIT_REFUSED, "%s: %s", script, strerror(errno));
	file = output_open(output, "report", &name);
	if (!file)
		return TOOL_EXIT_REFUSED;
	/* The script writes the rest to the descriptor. */
	if (fputs("# xrc-compat report\n", file) < 0 || fflush(file) ||
	    dup2(fileno(file), SCRIPT_OUTPUT) < 0 || fcntl(SCRIPT_OUTPUT, F_SETFD, 0))
		return refuse(TOOL_EXIT_REFUSED, "cannot write the report to %s: %s", name,
			      strerror(errno));
	execl(script, script, paths_self(), text_shell_word(name), option_word("--softhca", launch.softhca),
	      option_word("--model", launch.model), operands[0] ? operands[0] : "", NULL);
	return refuse(TOOL_EXIT_REFUSED, "%s: %s", script, strerror(errno));
}

static const struct option_row options[] = {
	{ "--output", "FILE",
	  "write it there instead of xrc-compat-report.md; %p, %h and %r as in trace; a file that is there already is kept, "
	  "and a link, FIFO or device refused",
	  .text = &output },
	LAUNCH_OPTIONS(launch),
	{ 0 },
};

const struct command command_report = {
	"report", options, "[PROGRAM]", "write one file with the facts, to attach to a question",
	"xrc-compat report ./old-solver", run_report, .most_operands = 1,
};
