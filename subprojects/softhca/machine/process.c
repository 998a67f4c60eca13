/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads and writes the memory of another process by way of a thread that has it. */
#include "client.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef ssize_t copy_fn(pid_t pid, const struct iovec *here, unsigned long here_count,
			const struct iovec *there, unsigned long there_count, unsigned long flags);

bool process_has_memory(pid_t thread)
{
	uint8_t byte;
	struct iovec here = { &byte, sizeof(byte) };
	struct iovec there = { NULL, sizeof(byte) };

	/* Without memory reading it gives ESRCH, else EFAULT. */
	return process_vm_readv(thread, &here, 1, &there, 1, 0) >= 0 || errno != ESRCH;
}

/*
 * /proc may show another pid namespace, and the number may be a new process's: tgkill() says
 * whether the thread is this process's.
 */
static bool is_usable(pid_t pid, pid_t thread)
{
	return thread != pid && !syscall(SYS_tgkill, pid, thread, 0) && process_has_memory(thread);
}

/* Returns the first usable thread, or 0. *newest: the last thread listed, 0 = none. */
static pid_t look_through(pid_t pid, pid_t *newest)
{
	char path[32];
	struct dirent *entry;
	pid_t thread = 0;
	DIR *threads;

	*newest = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	if (!threads)
		return 0;
	while ((entry = readdir(threads))) {
		thread = (pid_t)strtol(entry->d_name, NULL, 10);
		if (thread > 0) {
			*newest = thread;
			if (is_usable(pid, thread))
				break;
		}
	}
	closedir(threads);
	return entry ? thread : 0;
}

/* The list may stop at a thread that ends. Reads it until two looks end with the same thread. */
static pid_t find_thread(pid_t pid)
{
	pid_t newest = 0, before, thread;

	do {
		before = newest;
		thread = look_through(pid, &newest);
	} while (!thread && newest != before);
	return thread;
}

/* The thread is remembered, because each message needs it. */
static pid_t other_thread(pid_t pid)
{
	static pid_t process, thread; /* one thread serves */

	if (process != pid || !is_usable(pid, thread)) {
		process = pid;
		thread = find_thread(pid);
	}
	return thread;
}

pid_t process_thread(pid_t pid)
{
	return process_has_memory(pid) ? pid : other_thread(pid);
}

static ssize_t copy(copy_fn *how, pid_t pid, const struct iovec *here, const struct iovec *there,
		    size_t count)
{
	ssize_t done = how(pid, here, 1, there, count, 0);
	pid_t thread;

	/* In each further round a thread has ended. */
	while (done < 0 && errno == ESRCH && (thread = other_thread(pid)))
		done = how(thread, here, 1, there, count, 0);
	return done;
}

ssize_t process_read(pid_t pid, const struct iovec *here, const struct iovec *there, size_t count)
{
	return copy(process_vm_readv, pid, here, there, count);
}

ssize_t process_write(pid_t pid, const struct iovec *here, const struct iovec *there, size_t count)
{
	return copy(process_vm_writev, pid, here, there, count);
}
