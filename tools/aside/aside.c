/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Runs a function or a program in a process of its own. Reads its output up to a time limit. */
#include "aside.h"
#include "clock.h"
#include <tools/text/command.h>
#include <tools/text/memory.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_BYTES (256 * 1024)	/* a program that writes so much is killed */

static int milliseconds_until(uint64_t end)
{
	int64_t left = (int64_t)(end - clock_now()) / 1000000;

	return left > 0 ? (int)left : 0;
}

/* Reads to the end of the stream. 0, or -errno; the size in *used. */
static int collect(int in, uint64_t end, char *text, size_t *used)
{
	struct pollfd pollfd = { .fd = in, .events = POLLIN };
	ssize_t size = 1;

	for (*used = 0; size > 0 && *used < MOST_BYTES; *used += (size_t)size) {
		if (!milliseconds_until(end) ||
		    !TEMP_FAILURE_RETRY(poll(&pollfd, 1, milliseconds_until(end))))
			return -ETIMEDOUT;
		size = read(in, text + *used, MOST_BYTES - *used);
		if (size < 0)
			return -errno;
	}
	return size ? -EFBIG : 0;
}

/*
 * Waits for the end of the process, or kills it: at once if reading its output failed with @err.
 * The kernel may take some time to end a process that has closed its output. 0, or -errno.
 */
static int finish(pid_t pid, uint64_t end, int err, int *status)
{
	pid_t ended = 0;

	while (!err && !(ended = waitpid(pid, status, WNOHANG)) && milliseconds_until(end))
		usleep(1000);
	if (ended > 0)
		return 0;
	if (kill(-pid, SIGKILL)) /* and its children */
		kill(pid, SIGKILL);
	/* A driver may hold the process in the kernel, so nothing waits for it; init reaps it. */
	return err ? err : -ETIMEDOUT;
}

/*
 * The process gets a group of its own, so that finish() can kill its children as well. The process
 * ends with the command, and the kernel frees its devices. The command reports a crash, so a core
 * file in the user's directory is of no use.
 */
static void execute(const struct aside *aside, pid_t command, int nothing, int out)
{
	int status;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != command)	/* which has ended already, so no signal comes */
		_exit(TOOL_EXIT_REFUSED);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(aside->with_errors ? out : nothing, STDERR_FILENO);
	status = aside->prepare ? aside->prepare(aside->context) : 0;
	if (status || !aside->words)
		_exit(status);
	/* execvp() has a shell read a file that the kernel refuses. */
	(strchr(aside->words[0], '/') ? execv : execvp)(aside->words[0], aside->words);
	_exit(TOOL_EXIT_NOT_EXECUTABLE);
}

/* Starts the process, whose output is read from *in. The id of the process, or -errno. */
static pid_t start(const struct aside *aside, int *in)
{
	pid_t command = getpid(), pid = -1;
	int nothing, fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	*in = fd[0];
	fflush(NULL); /* or the child prints the buffered text once more */
	nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nothing >= 0)
		pid = fork();
	if (!pid)
		execute(aside, command, nothing, fd[1]);
	if (pid < 0)
		pid = -errno;
	close(fd[1]);
	close(nothing);
	return pid;
}

char *aside_output(const struct aside *aside, int milliseconds, struct aside_result *result)
{
	char *text = need_memory(calloc(MOST_BYTES + 1, 1));
	uint64_t end = clock_now() + (uint64_t)milliseconds * 1000000;
	int in = -1;
	pid_t pid = start(aside, &in);

	*result = (struct aside_result){ .err = pid };
	if (pid >= 0) {
		result->err = collect(in, end, text, &result->size);
		result->err = finish(pid, end, result->err, &result->status);
	}
	if (in >= 0)
		close(in);
	return text;
}
