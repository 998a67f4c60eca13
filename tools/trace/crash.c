/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sees the threads that a signal kills. The command traces the processes by ptrace(2), so the
 * program needs no signal handler, and no core file is written.
 */
#include "trace.h"

#include <tools/files/regular.h>

#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

void crash_watch(pid_t thread)
{
	/* Debuggers and containers may forbid this. Then the trace shows no stack of a crash. */
	ptrace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACECLONE);
}

static unsigned long long read_status(pid_t thread, const char *name, int base)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	return regular_number(path, name, base);
}

#define BIT(number) (1ULL << ((number) - 1))

static bool kills(pid_t thread, int number)
{
	unsigned long long harmless = BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH) |
				      BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);

	harmless |= read_status(thread, "SigCgt:", 16) | read_status(thread, "SigIgn:", 16);
	return !(harmless & BIT(number));
}

static void report(struct trace *trace, pid_t thread, int number)
{
	pid_t process = (pid_t)read_status(thread, "Tgid:", 10);
	struct stack stack = { .thread = thread };

	stack_of_stopped(process, &stack);
	trace_crash(trace, process, number, &stack);
}

void crash_stopped(struct trace *trace, pid_t thread, int status)
{
	int number = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP && number != SIGTRAP) {
		ptrace(PTRACE_LISTEN, thread, 0, 0);	/* until SIGCONT */
		return;
	}
	if (!event && kills(thread, number))
		report(trace, thread, number);
	ptrace(PTRACE_CONT, thread, 0, event ? 0 : number);
}
