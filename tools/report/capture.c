/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Starts this command once more and reads what it says. */
#include "capture.h"
#include "tools/program/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More than any of the commands says; what a driver prints without end is cut off. */
#define MOST_BYTES (256 * 1024)

static void start(const char *self, char *const *arguments, int out)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	execv(self, arguments);
	_exit(126);
}

static long milliseconds_left(time_t end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long)(end - now.tv_sec) * 1000 - now.tv_nsec / 1000000;
}

/* Until the end of the stream, or -ETIMEDOUT. */
static int read_all(int in, int seconds, struct capture *capture)
{
	struct pollfd pollfd = { .fd = in, .events = POLLIN };
	struct timespec now;
	char rest[4096];

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (;;) {
		long left = milliseconds_left(now.tv_sec + seconds);
		size_t room = MOST_BYTES - capture->length;
		ssize_t size;

		if (left <= 0 || poll(&pollfd, 1, (int)left) == 0)
			return -ETIMEDOUT;
		size = room ? read(in, capture->text + capture->length, room) : read(in, rest, sizeof(rest));
		if (size == 0)
			return 0;
		if (size < 0 && errno != EINTR)
			return 0;
		if (size > 0 && room)
			capture->length += (size_t)size;
	}
}

static int status_of(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int capture_command(char *const *arguments, int seconds, struct capture *capture)
{
	char self[PATH_MAX];
	int fd[2], timed_out;
	pid_t pid;

	*capture = (struct capture){ .text = malloc(MOST_BYTES + 1) };
	if (!capture->text || paths_self(self, sizeof(self)) || pipe2(fd, O_CLOEXEC)) {
		capture_free(capture);
		return -ENOMEM;
	}
	fflush(NULL); /* or the child would print what is still buffered once more */
	pid = fork();
	if (!pid)
		start(self, arguments, fd[1]);
	close(fd[1]);
	timed_out = pid < 0 ? 0 : read_all(fd[0], seconds, capture);
	close(fd[0]);
	if (pid > 0 && timed_out)
		kill(-pid, SIGKILL);
	capture->status = pid < 0 ? 126 : status_of(pid);
	if (timed_out)
		capture->status = timed_out;
	capture->text[capture->length] = '\0';
	return 0;
}

void capture_free(struct capture *capture)
{
	free(capture->text);
	*capture = (struct capture){ 0 };
}
