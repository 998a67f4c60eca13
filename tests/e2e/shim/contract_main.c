/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The legacy contract, row by row: an old binary that calls the old verbs and looks at what they
 * do.
 *
 *	contract [--mode=contexts|processes] [--only=TEXT] [--without-opened-events] GROUP...
 *
 * Prints "rows N", then one line per row that starts with "ok" or "FAIL". Exits 1 when a row
 * failed.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "row.h"

/* More than actor.c's limit for one verb, so that a row can say which one hangs. */
#define ROW_MS 60000

static struct row *rows, **last_row = &rows;

static const char *const mode_names[MODES] = { "contexts", "processes" };

static char directory[64];
static int failure_fd;

void row_add(struct row *row)
{
	*last_row = row;
	last_row = &row->next;
}

const char *row_file(int n)
{
	static char paths[4][128];

	snprintf(paths[n & 3], sizeof(paths[0]), "%s/domain%d", directory, n);
	return paths[n & 3];
}

const char *error_name(int err)
{
	static char names[4][32];
	static unsigned next;
	const char *known = err == ERRNO_MARK ? "untouched" : strerrorname_np(err);
	char *name = names[next++ & 3];

	if (known)
		snprintf(name, sizeof(names[0]), "%s", err ? known : "0");
	else
		snprintf(name, sizeof(names[0]), "%d", err);
	return name;
}

void row_fail(const char *file, int line, const char *format, ...)
{
	const char *slash = strrchr(file, '/');
	va_list args;

	dprintf(failure_fd, "%s:%d: ", slash ? slash + 1 : file, line);
	va_start(args, format);
	vdprintf(failure_fd, format, args);
	va_end(args);
	_exit(1);
}

void row_expect(const char *file, int line, const char *call, struct result result, int want,
		bool errno_too)
{
	int want_errno = want ? want : ERRNO_MARK;

	if (result.ret != want)
		row_fail(file, line, "%s: got %s, want %s", call, error_name(result.ret),
			 error_name(want));
	if (errno_too && result.err != want_errno)
		row_fail(file, line, "%s: errno is %s, want %s", call, error_name(result.err),
			 error_name(want_errno));
	if (!(result.facts & REST_INTACT))
		row_fail(file, line, "%s: wrote where it must not", call);
}

static void __attribute__((noreturn)) run_in_child(const struct row *row, enum mode mode)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	actor_mode = mode;
	row->run();
	_exit(0);
}

/* Waits for the row's process. Writes the failure into @text, or "" if the row passed. */
static void collect_result(pid_t pid, int pipe_end, char *text, size_t size)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
	struct pollfd pollfd = { .fd = pidfd, .events = POLLIN };
	bool ended = poll(&pollfd, 1, ROW_MS) == 1;
	ssize_t got;

	kill(-pid, SIGKILL);	/* the row's group: its actors too */
	waitpid(pid, &status, 0);
	close(pidfd);
	got = read(pipe_end, text, size - 1);
	text[got > 0 ? got : 0] = '\0';
	if (!ended)
		snprintf(text, size, "hung for %d s", ROW_MS / 1000);
	else if (WIFSIGNALED(status))
		snprintf(text, size, "died of signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) && !*text)
		snprintf(text, size, "exited with %d", WEXITSTATUS(status));
}

static void run_row(const struct row *row, enum mode mode, char *text, size_t size)
{
	int pipe_ends[2];
	pid_t pid;

	if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK)) {
		snprintf(text, size, "pipe: %s", strerror(errno));
		return;
	}
	failure_fd = pipe_ends[1];
	pid = fork();
	if (!pid)
		run_in_child(row, mode);
	if (pid > 0) {
		setpgid(pid, pid);
		collect_result(pid, pipe_ends[0], text, size);
	} else {
		snprintf(text, size, "fork: %s", strerror(errno));
	}
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

/* Runs a row, and prints its line. */
static bool row_fails(const struct row *row, enum mode mode)
{
	char text[512];

	snprintf(directory, sizeof(directory), "/tmp/contract.XXXXXX");
	if (!mkdtemp(directory)) {
		printf("FAIL %s %s [%s]: no directory in /tmp\n", row->section, row->title,
		       mode_names[mode]);
		return true;
	}
	run_row(row, mode, text, sizeof(text));
	for (int n = 0; n < 4; n++)
		unlink(row_file(n));
	rmdir(directory);
	if (*text)
		printf("FAIL %s %s [%s]: %s\n", row->section, row->title, mode_names[mode], text);
	else
		printf("ok %s %s [%s]\n", row->section, row->title, mode_names[mode]);
	return *text;
}

struct selection {
	char **groups;
	bool modes[MODES];
	const char *only;
	bool without_opened_events;
};

static bool wanted(const struct selection *selection, const struct row *row, const char *group,
		   enum mode mode)
{
	if (!selection->modes[mode] || strcmp(row->group, group) != 0)
		return false;
	if (selection->without_opened_events && row->needs == NEEDS_OPENED_EVENTS)
		return false;
	if (mode == CONTEXTS && row->needs == NEEDS_PROCESSES)
		return false;
	return !selection->only || strstr(row->title, selection->only) ||
	       !strcmp(row->section, selection->only);
}

/* The sum of what @each returns for the rows that are wanted, group by group. */
static unsigned for_rows(const struct selection *selection,
			 bool (*each)(const struct row *row, enum mode mode))
{
	unsigned count = 0;

	for (char **group = selection->groups; *group; group++)
		for (const struct row *row = rows; row; row = row->next)
			for (enum mode mode = 0; mode < MODES; mode++)
				if (wanted(selection, row, *group, mode))
					count += each(row, mode);
	return count;
}

static bool is_row(const struct row *row, enum mode mode)
{
	(void)row;
	(void)mode;
	return true;
}

static void expect_group(const char *name)
{
	for (const struct row *row = rows; row; row = row->next)
		if (!strcmp(row->group, name))
			return;
	fprintf(stderr, "contract: no group %s\n", name);
	exit(2);
}

static void parse(const char *argument, struct selection *selection)
{
	if (!strncmp(argument, "--only=", 7)) {
		selection->only = argument + 7;
		return;
	}
	if (!strcmp(argument, "--without-opened-events")) {
		selection->without_opened_events = true;
		return;
	}
	for (enum mode mode = 0; mode < MODES; mode++)
		if (!strncmp(argument, "--mode=", 7) && !strcmp(argument + 7, mode_names[mode])) {
			selection->modes[!mode] = false;
			return;
		}
	fprintf(stderr, "contract: %s is no option\n", argument);
	exit(2);
}

int main(int argc, char **argv)
{
	struct selection selection = { .modes = { true, true } };

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (argv++; *argv && !strncmp(*argv, "--", 2); argv++)
		parse(*argv, &selection);
	for (selection.groups = argv; *argv; argv++)
		expect_group(*argv);
	printf("rows %u\n", for_rows(&selection, is_row));
	return for_rows(&selection, row_fails) ? 1 : 0;
}
