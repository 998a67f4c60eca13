/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's process: a launcher starts it, and hears whether it serves. */
#include "server.h"

#include <proto.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* All but the standard ones and these two. glibc has close_range() since 2.34. */
static void close_others(int one, int other)
{
	DIR *list = opendir("/proc/self/fd");
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != one && fd != other && fd != dirfd(list))
			close(fd);
	}
	if (list)
		closedir(list);
}

/* The caller's shell waits for all who hold its pipes, so the daemon closes what it inherits. */
int daemon_detach(int one, int other)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		return -errno;
	setsid();
	umask(077);
	close_others(one, other);
	return 0;
}

/* The launcher reads this to the end of the pipe, or the reason of a failure. */
#define READY "ready"

/* 0, or -EPIPE: the launcher has been killed. */
static int write_ready(int pipe_end, const char *why)
{
	const char *text = why[0] ? why : READY;
	int err = write(pipe_end, text, strlen(text)) < 0 ? -errno : 0;

	close(pipe_end);
	return err;
}

static void __attribute__((noreturn)) daemon_main(const struct daemon_plan *plan, int ready)
{
	char why[512] = "";
	int err = daemon_detach(plan->lock, ready);

	prctl(PR_SET_NAME, "softhca-daemon");
	err = err ? server_fail(why, sizeof(why), "/dev/null", err)
		  : daemon_prepare(plan, why, sizeof(why));
	/* The daemon holds no directory of the user. */
	if (!err && chdir("/"))
		err = server_fail(why, sizeof(why), "/", -errno);
	if (err) {
		daemon_leave(plan->directory);
		write_ready(ready, why);
		_exit(EXIT_FAILURE);
	}
	if (!write_ready(ready, why))
		err = daemon_serve();
	daemon_leave(plan->directory);
	_exit(err ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* Nothing is heard from a daemon that a signal ended. */
static int read_ready(int pipe_end, char *why, size_t size)
{
	FILE *in = fdopen(pipe_end, "r");
	size_t length = in ? fread(why, 1, size - 1, in) : 0;

	why[length] = '\0';
	if (in)
		fclose(in);
	else
		close(pipe_end);
	if (!length)
		snprintf(why, size, "the daemon has ended without a word");
	return strcmp(why, READY) ? -EIO : 0;
}

/* Where doorbell pages and queues lie follows from the size of the system's pages. */
static int check_page_size(char *why, size_t size)
{
	long page = sysconf(_SC_PAGESIZE);

	if (page == SOFTHCA_UAR_LEN)
		return 0;
	snprintf(
		why, size,
		"this kernel's pages have %ld bytes, and the adapter is emulated for pages of %d bytes only: use a kernel with such pages",
		page, SOFTHCA_UAR_LEN);
	return -ENOTSUP;
}

/* Twice: the program must not find a child that it never started. 0 or -errno. */
static int fork_twice(const struct daemon_plan *plan, int ready)
{
	pid_t child = fork();
	int status = 0;

	if (child < 0)
		return -errno;
	if (!child) {
		pid_t grandchild = fork();

		if (!grandchild)
			daemon_main(plan, ready);
		_exit(grandchild < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS ? 0 : -EAGAIN;
}

/* The end of the pipe in which the daemon says whether it serves, or -errno if there is none. */
static int launch(const struct daemon_plan *plan, char *why, size_t size)
{
	int err = check_page_size(why, size);
	int ready[2];

	if (err)
		return err;
	if (pipe2(ready, O_CLOEXEC))
		return server_fail(why, size, "pipe", -errno);
	err = fork_twice(plan, ready[1]);
	close(ready[1]);
	if (!err)
		return ready[0];
	close(ready[0]);
	return server_fail(why, size, "fork", err);
}

int daemon_spawn(const struct daemon_plan *plan, char *why, size_t size)
{
	int pipe_end = launch(plan, why, size);

	if (pipe_end >= 0)
		return read_ready(pipe_end, why, size);
	home_remove(plan->directory);
	return pipe_end;
}
