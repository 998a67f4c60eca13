/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat trace`: runs a program as `run` does. A second library reports every legacy call. */
#include "terminal/streams.h"
#include "tools/common/command.h"
#include "tools/common/memory.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/common/temporary.h"
#include "tools/common/text.h"
#include "trace.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct trace {
	const char *output;
	struct launch launch;
	/* While it runs: */
	char directory[96];	/* short, as the address of a socket must be */
	struct sockaddr_un address;
	int socket;
	pid_t child;
	char out_name[PATH_MAX];
	char *text;		/* of the JSON document, kept until the program has ended */
	size_t text_size;
	struct trace_writer writer;
	struct trace_census census;
};

/* ---- records ---- */

/* Makes a string of each line. Behind the last one is an empty one. */
static void split(char *lines, size_t size)
{
	lines[size - 1] = lines[size - 2] = '\0';
	for (char *line = lines; *line; line += strlen(line) + 1) {
		line[strcspn(line, "\n")] = '\0';
		text_clean(line);
	}
}

/*
 * Only this user's processes can write to the socket. A program that corrupts its memory must not
 * crash this command, nor reach the terminal.
 */
static bool is_sound(struct trace_record *record, ssize_t size)
{
	if (size < (ssize_t)offsetof(struct trace_record, frames) || record->magic != TRACE_MAGIC ||
	    record->verb > TRACE_STARTED || record->frame_count > TRACE_FRAMES)
		return false;
	split(record->arguments, sizeof(record->arguments));
	split(record->outcome, sizeof(record->outcome));
	for (uint32_t i = 0; i < trace_became_kept(record); i++)
		split(record->became[i].function, sizeof(record->became[i].function));
	for (uint32_t i = 0; i < record->frame_count; i++)
		record->frames[i].module[sizeof(record->frames[i].module) - 1] = '\0';
	return true;
}

static void take_call(struct trace *trace, struct trace_record *record)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < record->frame_count; i++) {
		if (place_is_of_program(&record->frames[i]))
			record->frames[kept++] = record->frames[i];
	}
	record->frame_count = kept;
	trace_write_call(&trace->writer, record, trace_count(&trace->census, record));
}

/* Returns whether there was anything. */
static bool take_one(struct trace *trace)
{
	static struct trace_record record;
	ssize_t size;

	memset(&record, 0, sizeof(record));
	size = recv(trace->socket, &record, sizeof(record), MSG_DONTWAIT);
	if (!is_sound(&record, size))
		return size >= 0;
	if (record.verb == TRACE_STARTED)
		trace_started(&trace->census, &record, trace->child);
	else
		take_call(trace, &record);
	return true;
}

/* 0 after the program has ended: another process may have its number. */
static volatile pid_t child_to_forward_to;

/* Runs until the program has ended and all its records are read. */
static int follow(struct trace *trace)
{
	struct pollfd pollfd = { .fd = trace->socket, .events = POLLIN };
	int status = 0;
	pid_t ended;

	do {
		poll(&pollfd, 1, 20);
		/*
		 * In this order: all records of a process are in the socket before its end is seen.
		 */
		ended = waitpid(trace->child, &status, WNOHANG);
		if (ended > 0)
			child_to_forward_to = 0;
		while (take_one(trace))
			;
		fflush(trace->writer.out);
	} while (!ended || (ended < 0 && errno == EINTR));
	if (ended < 0)
		return TOOL_EXIT_REFUSED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- starting ---- */

static int make_directory(char *path)
{
	return mkdtemp(path) ? 0 : -1;
}

static int open_socket(struct trace *trace)
{
	if (temporary_make("xrc-trace", trace->directory, sizeof(trace->directory), make_directory))
		return refuse(TOOL_EXIT_REFUSED,
			      "cannot make a directory for the trace's socket, %s: %s",
			      trace->directory, strerror(errno));
	trace->address.sun_family = AF_UNIX;
	snprintf(trace->address.sun_path, sizeof(trace->address.sun_path), "%s/socket",
		 trace->directory);
	trace->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (trace->socket < 0 ||
	    bind(trace->socket, (struct sockaddr *)&trace->address, sizeof(trace->address)))
		return refuse(TOOL_EXIT_REFUSED, "cannot make the trace's socket %s: %s",
			      trace->address.sun_path, strerror(errno));
	return 0;
}

/* `run` preloads the tracing library if the variable is set. */
static int run_program(const struct trace *trace)
{
	if (setenv("XRC_COMPAT_TRACE", trace->address.sun_path, 1))
		return refuse(TOOL_EXIT_REFUSED, "out of memory");
	return launch_program(&trace->launch);
}

static void forward(int number)
{
	if (child_to_forward_to)
		kill(child_to_forward_to, number);
}

/*
 * Called after fork(), so that the program keeps the signal actions that this command was started
 * with.
 */
static void set_signals(pid_t child)
{
	/* Resource managers send these to the first process of a job only. */
	static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
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

static int start_program(struct trace *trace)
{
	sigset_t all, before;

	fflush(NULL);
	/* Block the signals until their handler can pass them on. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	trace->child = fork();
	if (trace->child > 0)
		set_signals(trace->child);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!trace->child)
		_exit(run_program(trace));
	return trace->child > 0 ? 0
				: refuse(TOOL_EXIT_REFUSED, "cannot start the program: fork: %s",
					 strerror(errno));
}

/* ---- output ---- */

static int open_output(struct trace *trace)
{
	struct trace_writer *writer = &trace->writer;

	writer->out = stderr;
	if (trace->output)
		writer->out = output_open(trace->output, "trace", trace->out_name,
					  sizeof(trace->out_name));
	if (!writer->out)
		return TOOL_EXIT_REFUSED;
	if (writer->is_json)
		writer->json.out = need_memory(open_memstream(&trace->text, &trace->text_size));
	trace_write_begin(writer, trace->launch.program[0]);
	return 0;
}

/* A JSON document comes after all output of the program. */
static int close_output(struct trace *trace, int status)
{
	FILE *out = trace->writer.out;
	const char *why;

	if (trace->writer.is_json) {
		fclose(trace->writer.json.out);
		fwrite(trace->text, 1, trace->text_size, out);
		free(trace->text);
	}
	why = trace->output ? streams_close(out) : streams_flush(out);
	if (!why)
		return status;
	return refuse(TOOL_EXIT_REFUSED, "cannot write the trace to %s: %s",
		      trace->output ? trace->out_name : "standard error", why);
}

static int trace_program(struct trace *trace)
{
	int status = open_output(trace);

	if (status)
		return status;
	status = open_socket(trace);
	if (!status)
		status = start_program(trace);
	if (!status)
		status = follow(trace);
	trace_write_end(&trace->writer, &trace->census, status);
	if (trace->socket >= 0)
		close(trace->socket);
	unlink(trace->address.sun_path);
	rmdir(trace->directory);
	trace_census_free(&trace->census);
	return close_output(trace, status);
}

/* ---- the command line ---- */

static void set_option(struct trace *trace, int option, const char *value)
{
	if (option == 'j')
		trace->writer.is_json = true;
	else if (option == 'o')
		trace->output = value;
	else if (option == 't')
		trace->writer.port_to = true;
	else
		launch_option(&trace->launch, option, value);
}

int command_trace(const struct command *self, int argc, char **argv)
{
	struct option_words words = { self, argv + 1, NULL };
	static struct trace trace; /* large */
	int option;

	(void)argc;
	trace = (struct trace){ .socket = -1, .launch = { .self = self } };
	while ((option = options_next(&words)) > 0)
		set_option(&trace, option, words.value);
	if (option)
		return TOOL_EXIT_REFUSED;
	if (!*words.word) {
		refuse(0, "trace: no program given");
		return advise_usage(self);
	}
	trace.launch.program = words.word;
	trace_started_by_name(&trace.census, words.word[0]);
	return trace_program(&trace);
}
