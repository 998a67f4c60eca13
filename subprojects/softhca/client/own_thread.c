/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Starts threads of this library, and tells when they are the only ones left. */
#include "own_thread.h"

#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#define NAME "softhca"

int own_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg),
		     void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

/* The thread names itself, because to name another thread takes a file descriptor. */
void own_thread_begin(void)
{
	prctl(PR_SET_NAME, NAME);
}

/* Whether the thread is one of ours, or has ended since readdir() named it. */
static bool is_ours(const char *tid)
{
	char path[64], name[16] = ""; /* the kernel keeps 15 characters */
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", tid);
	fd = real()->open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	if (read(fd, name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	real()->close(fd);
	return !strcmp(name, NAME "\n");
}

/* Of the first thread, an entry remains after pthread_exit(3). */
static bool all_others_ended(void)
{
	DIR *tasks = real()->opendir("/proc/self/task");
	bool ended = tasks;
	struct dirent *task;
	char first[24];

	snprintf(first, sizeof(first), "%d", (int)getpid());
	while (ended && (task = real()->readdir(tasks)))
		ended = task->d_name[0] == '.' || !strcmp(task->d_name, first) ||
			is_ours(task->d_name);
	if (tasks)
		real()->closedir(tasks);
	return ended;
}

/*
 * The first thread has ended if /proc/self, which is its entry, has lost its working directory.
 * readlink() takes no descriptor. The program might be about to use that descriptor's number.
 */
bool own_thread_is_alone(void)
{
	char directory[1];

	return readlink("/proc/self/cwd", directory, sizeof(directory)) < 0 &&
	       errno == ENOENT && all_others_ended();
}
