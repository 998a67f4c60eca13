/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What tests do in child processes. */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <harness/unit.h>

/*
 * scripts/try-aarch64 runs the tests by qemu-user, which does not wipe pages at a fork, has a
 * /proc/self/stat of its own, and does not limit memory.
 */
#define skip_by_qemu_user() \
	do { \
		const char *wrapper_ = getenv("MESON_EXE_WRAPPER"); \
\
		if (wrapper_ && strstr(wrapper_, "qemu")) \
			skip_because("qemu-user differs from a kernel there"); \
	} while (0)

/* The status of a child process whose exit status is the value of the expression. */
#define in_child(expression) in_child_of(fork(), expression)

/* As a child of _Fork(), which runs no fork handlers. glibc has that function from 2.34 on. */
#define in_bare_child(expression) \
	in_child_of((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), expression)

#define in_child_of(forked, expression) \
	({ \
		int status_ = -1; \
		pid_t pid_ = forked; \
\
		if (!pid_) \
			_exit(expression); \
		assert_int_equal(waitpid(pid_, &status_, 0), pid_); \
		status_; \
	})

#endif
