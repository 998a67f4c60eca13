/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Stops a thread of another process, and lets it go on. libdwfl can do that too, but by SIGSTOP,
 * and it would wait for ever for a thread that waits in the kernel for a device.
 */
#include "image.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define PATIENCE_S 1

/*
 * SIGCHLD is blocked. A thread that does not stop (-EBUSY) cannot be detached. The kernel detaches
 * it when this command ends.
 */
static int wait_for_stop(pid_t thread, const sigset_t *child)
{
	static const struct timespec patience = { .tv_sec = PATIENCE_S };
	pid_t stopped;
	int status;

	while (!(stopped = waitpid(thread, &status, __WALL | WNOHANG))) {
		if (sigtimedwait(child, NULL, &patience) < 0 && errno == EAGAIN)
			return -EBUSY;
	}
	if (stopped < 0 || !WIFSTOPPED(status))
		return -ESRCH;
	return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

/*
 * A stopped thread waits for this command, so this command takes a real-time priority meanwhile.
 * Without the right to it (RLIMIT_RTPRIO), one stop in a hundred takes a tick of the kernel more.
 */
static void take_turn(bool before_others)
{
	const struct sched_param param = { .sched_priority = before_others ? 1 : 0 };

	sched_setscheduler(0, before_others ? SCHED_FIFO : SCHED_OTHER, &param);
}

int thread_stop(pid_t thread)
{
	sigset_t child;
	int err;

	if (ptrace(PTRACE_SEIZE, thread, 0, 0))
		return -errno;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	if (ptrace(PTRACE_INTERRUPT, thread, 0, 0))
		return -errno;
	take_turn(true);
	err = wait_for_stop(thread, &child);
	if (err < 0)
		take_turn(false);
	return err;
}

/* A signal that arrived meanwhile must reach the program. */
void thread_let_go(pid_t thread, int number)
{
	ptrace(PTRACE_DETACH, thread, 0, number);
	take_turn(false);
}
