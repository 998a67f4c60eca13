/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Runs a function or a program in a process of its own, reads its output until a time limit, and
 * ends it.
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * How long a killed process may take to end. A driver may hold it in the kernel for longer; then
 * init reaps it.
 */
#define BURIAL_MILLISECONDS 200
#define MOST_BYTES (256 * 1024)	/* of a program's output; the rest is dropped */

static int64_t in_milliseconds(int milliseconds)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + milliseconds;
}

static int milliseconds_until(int64_t end)
{
	int64_t left = end - in_milliseconds(0);

	return left > 0 ? (int)left : 0;
}

/* The size of the next piece; 0 at the end of the stream. */
static ssize_t receive_piece(int in, int64_t end, char *piece, size_t size)
{
	struct pollfd pollfd = { .fd = in, .events = POLLIN };

	if (!milliseconds_until(end) ||
	    !TEMP_FAILURE_RETRY(poll(&pollfd, 1, milliseconds_until(end))))
		return -ETIMEDOUT;
	return read(in, piece, size);
}

/* -EIO if the process did not end by itself. */
static int bury(pid_t pid, int milliseconds)
{
	int64_t end = in_milliseconds(milliseconds);
	pid_t ended;
	int status;

	while (!(ended = waitpid(pid, &status, WNOHANG)) && milliseconds_until(end))
		usleep(1000);
	return ended == pid && WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

/*
 * The command may be stopped or killed at any moment, alone or with its process group. The child
 * must still give back what it has got from the driver. A crash of the child is reported; a core
 * file in the user's directory is of no use.
 */
static void execute(const struct aside *aside, int out)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), status;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(aside->with_errors ? out : nothing, 2) < 0)
		_exit(errno);
	status = aside->prepare ? aside->prepare(aside->context) : 0;
	if (status || !aside->words)
		_exit(status);
	/* execvp() has a shell read a file that the kernel refuses. */
	(strchr(aside->words[0], '/') ? execv : execvp)(aside->words[0], aside->words);
	_exit(TOOL_EXIT_NOT_EXECUTABLE);
}

/* The process, or -errno. *in: what it writes. */
static pid_t start(const struct aside *aside, int *in)
{
	int fd[2];
	pid_t pid;

	fflush(NULL); /* or the child prints the buffered text once more */
	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	*in = fd[0];
	pid = fork();
	if (!pid)
		execute(aside, fd[1]);
	if (pid < 0)
		pid = -errno;
	close(fd[1]);
	return pid;
}

/* Reads to the end of the stream, and drops what is too much. */
static int collect(int in, int milliseconds, char *text, size_t *used)
{
	int64_t end = in_milliseconds(milliseconds);
	char piece[PIPE_BUF];
	ssize_t size;

	while ((size = receive_piece(in, end, piece, sizeof(piece))) > 0) {
		size_t kept = (size_t)size < MOST_BYTES - *used ? (size_t)size : MOST_BYTES - *used;

		memcpy(text + *used, piece, kept);
		*used += kept;
	}
	return (int)size;
}

char *aside_output(const struct aside *aside, int milliseconds, size_t *size, int *result)
{
	char *text = need_memory(calloc(MOST_BYTES + 1, 1));
	size_t used = 0;
	int in = -1, status;
	pid_t pid = start(aside, &in);

	*result = pid < 0 ? pid : collect(in, milliseconds, text, &used);
	if (size)
		*size = used;
	if (in >= 0)
		close(in);
	if (pid < 0)
		return text;
	if (*result && kill(-pid, SIGKILL)) /* and its children */
		kill(pid, SIGKILL);
	/* The child has closed its end of the pipe. Its exit may take the kernel some time. */
	status = bury(pid, *result ? BURIAL_MILLISECONDS : milliseconds);
	*result = *result ? *result : status;
	return text;
}
