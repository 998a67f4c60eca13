/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads of ours in a program that does not know of them: none of its signals is delivered to
 * them, and they do not keep it alive.
 */
#ifndef XRC_COMPAT_OWN_THREAD_H
#define XRC_COMPAT_OWN_THREAD_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A library that has another name defines it before it includes this file. */
#ifndef OWN_THREAD_NAME
#define OWN_THREAD_NAME	   "xrc-compat"
#endif
#define OWN_THREAD_LOOK_MS 1000 /* how often such a thread calls own_thread_is_alone() */

/** own_thread_start - pthread_create(3). 0 or -errno. */
static inline int own_thread_start(pthread_t *thread, const pthread_attr_t *attr,
				   void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

/**
 * own_thread_begin - the first call of such a thread, by whose name the others know it. From
 * outside it would take a descriptor.
 */
static inline void own_thread_begin(void)
{
	prctl(PR_SET_NAME, OWN_THREAD_NAME);
}

static inline bool own_thread_is(const char *tid)
{
	static const char *const names[] = { "xrc-compat", "softhca" };
	char path[64], name[16] = ""; /* as the kernel has it */
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT; /* it has just ended */
	if (read(fd, name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	close(fd);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, names[0]) || !strcmp(name, names[1]);
}

static inline bool own_thread_all_others_ended(void)
{
	DIR *tasks = opendir("/proc/self/task");
	bool ended = tasks;
	struct dirent *task;
	char first[24];

	snprintf(first, sizeof(first), "%d", (int)getpid());
	while (ended && (task = readdir(tasks)))
		ended = task->d_name[0] == '.' || !strcmp(task->d_name, first) ||
			own_thread_is(task->d_name);
	if (tasks)
		closedir(tasks);
	return ended;
}

/**
 * own_thread_is_alone - whether the program's threads have all ended. Then this one is to end, too:
 * with the last thread the C library ends the process. The first thread must have ended by
 * pthread_exit(3), for else the process would have ended. /proc shows no folder of such a process;
 * to ask for that takes no descriptor, whose number the program might be about to use.
 */
static inline bool own_thread_is_alone(void)
{
	char folder[1];

	return readlink("/proc/self/cwd", folder, sizeof(folder)) < 0 && errno == ENOENT &&
	       own_thread_all_others_ended();
}

#endif
