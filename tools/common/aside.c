/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work in a process of its own, with a time limit. */
#include "aside.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a killed process may take to end. After that it is left to init: a driver may hold it in the kernel. */
#define BURIAL_MILLISECONDS 200

static long milliseconds_until(const struct timespec *end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
}

static struct timespec in_milliseconds(int milliseconds)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += milliseconds / 1000;
	end.tv_nsec += milliseconds % 1000 * 1000000L;
	return end;
}

/* 0 at the end of the stream. */
static int receive(const struct aside *aside, int in, int milliseconds)
{
	struct timespec end = in_milliseconds(milliseconds);
	char record[PIPE_BUF];

	for (;;) {
		struct pollfd pollfd = { .fd = in, .events = POLLIN };
		long left = milliseconds_until(&end);
		ssize_t size;

		if (left <= 0 || poll(&pollfd, 1, (int)left) == 0)
			return -ETIMEDOUT;
		size = read(in, record, aside->record_size);
		if (size == 0)
			return 0;
		if (size < 0 && errno == EINTR)
			continue;
		if (size != (ssize_t)aside->record_size || !aside->take(aside->context, record))
			return -EIO;
	}
}

/* -EIO for one that did not end by itself. */
static int bury(pid_t pid, int milliseconds)
{
	struct timespec end = in_milliseconds(milliseconds);
	pid_t ended;
	int status;

	while (!(ended = waitpid(pid, &status, WNOHANG)) && milliseconds_until(&end) > 0)
		usleep(1000);
	return ended == pid && WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

/*
 * The command may be stopped or killed at any moment, alone or with its process group. The child must still give back what it has
 * got from the driver. A crash of the child is reported; a core file in the user's directory would help nobody.
 */
static void work(const struct aside *aside, int out)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	_exit(aside->work(aside->context, out));
}

int aside_do(const struct aside *aside, int milliseconds)
{
	int result, status;
	int fd[2];
	pid_t pid;

	fflush(NULL); /* or the child would print what is still buffered once more */
	if (pipe(fd))
		return -errno;
	pid = fork();
	if (pid < 0) {
		result = -errno;
		close(fd[0]);
		close(fd[1]);
		return result;
	}
	if (!pid) {
		close(fd[0]);
		work(aside, fd[1]);
	}
	close(fd[1]);
	result = receive(aside, fd[0], milliseconds);
	close(fd[0]);
	if (result && kill(-pid, SIGKILL))	/* with what it has started itself */
		kill(pid, SIGKILL);
	/* A child that has closed its end of the pipe is ending, which may take the kernel some time. */
	status = bury(pid, result ? BURIAL_MILLISECONDS : milliseconds);
	return result ? result : status;
}

bool aside_give(int out, const void *record, size_t size)
{
	return write(out, record, size) == (ssize_t)size;
}
