/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat trace`: runs a program as `run` does. A second library reports every legacy call. */
#include "trace.h"

#include <tools/common/command.h>
#include <tools/common/launchers.h>
#include <tools/common/memory.h>
#include <tools/common/message.h>
#include <tools/common/output.h>
#include <tools/common/streams.h>
#include <tools/common/text.h>
#include <tools/run/run.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	const char *output, *perfetto;
	bool is_json;
	struct launch launch;
	/* While it runs: */
	char directory[96];	/* short, as the address of a socket must be */
	struct sockaddr_un address;
	int socket;
	pid_t child;
	sigset_t mask;		/* while it waits: the end of the program wakes it by SIGCHLD */
	const char *out_name;
	char *text;		/* of a JSON document on a standard stream */
	size_t text_size;
	struct trace trace;
} tracing = { .socket = -1, .out_name = "standard error" };

/* ---- records ---- */

/*
 * Only this user's processes can write to the socket. A program that corrupts its memory must not
 * crash this command, nor reach the terminal.
 */
static bool is_sound(struct trace_record *record, ssize_t size)
{
	const size_t head = offsetof(struct trace_record, text);
	char *end = record->text + record->text_size;
	bool sound = size >= (ssize_t)head && (size_t)size - head == record->text_size &&
		     record->text_size <= TRACE_TEXT && record->magic == TRACE_MAGIC &&
		     record->verb <= TRACE_STARTED && record->frame_count <= TRACE_FRAMES &&
		     record->became_count <= TRACE_BECAME && record->outcome <= record->text_size;

	for (uint32_t i = 0; sound && i < record->frame_count; i++)
		sound = record->frames[i].module <= record->text_size;
	for (uint32_t i = 0; sound && i < record->became_count; i++)
		sound = record->became[i].function <= record->text_size;
	if (!sound)
		return false;
	end[0] = end[1] = '\0';	/* also behind arguments without an end */
	for (char *string = record->text; string < end; string += strlen(string) + 1)
		text_clean(string);
	return true;
}

/* Returns whether there was a record. */
static bool take_one(void)
{
	static struct trace_record record;
	ssize_t size = recv(tracing.socket, &record, sizeof(record), MSG_DONTWAIT);

	if (!is_sound(&record, size))
		return size >= 0;
	if (record.is_first)
		crash_watch(record.tid);
	if (record.verb == TRACE_STARTED)
		trace_started(&tracing.trace, &record, tracing.child);
	else
		trace_call(&tracing.trace, &record);
	return true;
}

/* 0 after the program has ended: another process may have its number. */
static volatile pid_t child_to_forward_to;
static volatile sig_atomic_t children_changed;

/* Returns whether the program has ended; its status, or -errno, in @status. */
static bool reap(int *status)
{
	pid_t pid;

	if (!children_changed)
		return false;
	children_changed = false;
	while ((pid = waitpid(-1, status, __WALL | WNOHANG)) > 0) {
		if (WIFSTOPPED(*status)) {
			while (take_one())	/* the calls before it crashed */
				;
			crash_stopped(&tracing.trace, pid, *status);
		} else if (pid == tracing.child) {
			child_to_forward_to = 0;
			return true;
		}
	}
	*status = -errno;
	return pid < 0;
}

/* Runs until the program has ended and all its records are read. */
static int follow(void)
{
	struct pollfd pollfd = { .fd = tracing.socket, .events = POLLIN };
	int status;
	bool ended;

	do {
		ppoll(&pollfd, 1, NULL, &tracing.mask);
		/* In this order: a process's records are in the socket before its end is seen. */
		ended = reap(&status);
		while (take_one())
			;
		fflush(tracing.trace.out);
	} while (!ended);
	if (status < 0)
		return refuse(TOOL_EXIT_REFUSED, "cannot wait for the program: %s",
			      strerror(-status));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- starting ---- */

/* In TMPDIR, if that can be used and the address of a socket has room for it. */
static bool make_directory(void)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || parent[0] != '/' || strlen(parent) > sizeof(tracing.directory) / 2 ||
	    access(parent, W_OK | X_OK))
		parent = "/tmp";
	snprintf(tracing.directory, sizeof(tracing.directory), "%s/xrc-trace-XXXXXX", parent);
	return mkdtemp(tracing.directory) != NULL;
}

static int open_socket(void)
{
	if (!make_directory())
		return refuse(TOOL_EXIT_REFUSED,
			      "cannot make a directory for the trace's socket, %s: %s",
			      tracing.directory, strerror(errno));
	tracing.address.sun_family = AF_UNIX;
	snprintf(tracing.address.sun_path, sizeof(tracing.address.sun_path), "%s/socket",
		 tracing.directory);
	tracing.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (tracing.socket < 0 ||
	    bind(tracing.socket, (struct sockaddr *)&tracing.address, sizeof(tracing.address)))
		return refuse(TOOL_EXIT_REFUSED, "cannot make the trace's socket %s: %s",
			      tracing.address.sun_path, strerror(errno));
	return 0;
}

/* `run` preloads the tracing library if the variable is set. */
static int run_program(void)
{
	set_variable("XRC_COMPAT_TRACE", tracing.address.sun_path, true);
	return launch_program(&tracing.launch);
}

static void forward(int number)
{
	if (number == SIGCHLD)
		children_changed = true;
	else if (child_to_forward_to)
		kill(child_to_forward_to, number);
}

/*
 * After fork(): the program keeps the signal actions that this command was started with, except for
 * SIGCHLD (main.c).
 */
static void set_signals(pid_t child)
{
	/*
	 * Resource managers send the first four to the first process of a job only. SIGCHLD wakes
	 * follow().
	 */
	static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD };
	/*
	 * The terminal sends the first two to the program as well, and this command reports how the
	 * program ended. The reader of the trace may end first: the program still runs to its end.
	 */
	static const int ignored[] = { SIGINT, SIGQUIT, SIGPIPE };
	/* SA_RESTART: an interrupted write would be lost. */
	struct sigaction action = { .sa_handler = forward, .sa_flags = SA_RESTART };

	child_to_forward_to = child;
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaction(forwarded[i], &action, NULL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
}

static int start_program(void)
{
	sigset_t all, before;
	int watched[2];

	if (pipe2(watched, O_CLOEXEC))
		return refuse(TOOL_EXIT_REFUSED, "cannot start the program: pipe: %s",
			      strerror(errno));
	fflush(NULL);
	/* Block the signals until their handler can pass them on. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	tracing.child = fork();
	if (!tracing.child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(watched[1]);
		/* Until the command would see it crash. */
		while (read(watched[0], &all, 1) < 0 && errno == EINTR)
			;
		_exit(run_program());
	}
	if (tracing.child < 0)
		return refuse(TOOL_EXIT_REFUSED, "cannot start the program: fork: %s",
			      strerror(errno));
	crash_watch(tracing.child);
	close(watched[0]);
	close(watched[1]);
	set_signals(tracing.child);
	/* SIGCHLD stays blocked, so that it cannot come before follow() waits for it. */
	tracing.mask = before;
	sigdelset(&tracing.mask, SIGCHLD);
	sigaddset(&before, SIGCHLD);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}

/* ---- output ---- */

static int open_output(void)
{
	const char *pattern = tracing.perfetto ? tracing.perfetto : tracing.output;
	struct trace *trace = &tracing.trace;

	trace->out = stderr;
	trace->printer = tracing.perfetto  ? &events_printer
			 : tracing.is_json ? &json_printer
					   : &text_printer;
	if (pattern)
		trace->out = output_open(pattern, "trace", &tracing.out_name);
	if (!trace->out)
		return TOOL_EXIT_REFUSED;
	/* In memory it grows with each call; but the program may write to /dev/stdout, too. */
	if (tracing.perfetto ||
	    (tracing.is_json && pattern &&
	     fnmatch("/dev/@(std|fd/|tty|pts/)*", pattern, FNM_EXTMATCH)))
		trace->json.out = trace->out;
	else if (tracing.is_json)
		trace->json.out = need_memory(open_memstream(&tracing.text, &tracing.text_size));
	trace_begin(trace, tracing.launch.program[0]);
	return 0;
}

/* On a standard stream a JSON document comes after all output of the program. */
static int close_output(int status)
{
	FILE *out = tracing.trace.out, *json = tracing.trace.json.out;
	const char *why;

	if (json && json != out) {
		fclose(json);
		fwrite(tracing.text, 1, tracing.text_size, out);
	}
	why = out != stderr ? streams_close(out) : streams_flush(out);
	if (!why)
		return status;
	return refuse(TOOL_EXIT_REFUSED, "cannot write the trace to %s: %s", tracing.out_name, why);
}

/* ---- the command ---- */

static int run_trace(char **words)
{
	int status;

	if (!words[0])
		return refuse_program_missing(&command_trace);
	if (tracing.perfetto && (tracing.is_json || tracing.output))
		return refuse(TOOL_EXIT_REFUSED,
			      "trace: --perfetto goes neither with --json nor with --output");
	tracing.launch.program = words;
	if (tracing.output && strstr(tracing.output, "%r") && find_launcher(words[0]))
		say("trace: in front of a launcher %%r is no rank; for a file for each rank: %s ... xrc-compat trace "
		    "--output %s PROGRAM", basename(words[0]), tracing.output);
	status = open_output();
	if (status)
		return status;
	status = open_socket();
	if (!status)
		status = start_program();
	if (!status)
		status = follow();
	trace_end(&tracing.trace, status);
	if (tracing.socket >= 0)
		close(tracing.socket);
	unlink(tracing.address.sun_path);
	rmdir(tracing.directory);
	return close_output(status);
}

static void explain_walk(void)
{
	const char *walk = "backtrace(3) walks the stacks: this build lacks libunwind";
#ifdef TRACE_LIBUNWIND
	bool found = dlopen(TRACE_LIBUNWIND, RTLD_LAZY | RTLD_LOCAL) != NULL;

	walk = found ? "libunwind walks the stacks"
		     : "backtrace(3) walks the stacks: there is no " TRACE_LIBUNWIND;
#endif
	printf("\nIn 64-bit programs %s.\n", walk);
}

static const struct option_row options[] = {
	LAUNCH_OPTIONS(tracing.launch),
	{ "--output", "FILE",
	  "write the trace there instead of to standard error. %p is replaced by the process, %h by the host, %r by "
	  "the MPI rank. A file that is there already is kept: FILE.1, FILE.2, ... is written instead",
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
	.more_help = explain_walk,
};
