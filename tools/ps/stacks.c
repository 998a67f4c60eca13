/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat ps --stacks`: where the threads of the processes with an open domain are. */
#include "ps.h"

#include <tools/files/elf_info.h>
#include <tools/files/regular.h>
#include <tools/stack/stack.h>
#include <tools/text/command.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WITHOUT_LIBDW "this build is without libdw"

static void print_stack(const struct stack *stack)
{
	unsigned int number = 0;

	print_text(stdout, "  thread %d", (int)stack->thread);
	if (stack->stop_us)
		print_text(stdout, ", stopped %u us", stack->stop_us);
	print_text(stdout, "%s%s:\n", stack->call ? ", in " : "",
		   stack->call ? stack->call : "");
	for (size_t i = 0; i < stack->frame_count; i++)
		place_print_all(stdout, "    ", stack->frame[i].place, &number);
}

/* ---- registrations ---- */

/* The other processes that are registered with the QP keep it alive. */
static void print_others(const struct regtab_view *view, uint32_t qp_num, unsigned int self)
{
	const char *separator = "; so";

	for (unsigned int i = 0; i < view->member_count; i++) {
		const struct regtab_view_member *other = &view->members[i];

		if (i == self || !regtab_view_registered(view, qp_num, i))
			continue;
		print_text(stdout, "%s is %d", separator, (int)other->pid);
		separator = ",";
	}
	putchar('\n');
}

static int print_registrations(void *context, const struct regtab_view *view)
{
	const pid_t *pid = context;
	struct regtab_view_qp qp;

	for (unsigned int i = 0; i < view->member_count; i++) {
		const struct regtab_view_member *member = &view->members[i];

		if (member->pid != *pid)
			continue;
		for (uint32_t from = 0; regtab_view_next(view, from, &qp); from = qp.qp_num + 1) {
			if (!regtab_view_registered(view, qp.qp_num, i))
				continue;
			print_text(stdout, "  registered with QP 0x%06x of %s", qp.qp_num,
				   member->key.device);
			print_others(view, qp.qp_num, i);
		}
	}
	return 0;
}

/* ---- processes ---- */

/* Why the kernel does not let this command stop the process, and what to do. */
static const char *why_not_stopped(pid_t pid, int err)
{
	char *status = format_string("/proc/%d/status", (int)pid);
	unsigned long long tracer = regular_number(status, "TracerPid:", 10);
	unsigned long long scope = regular_number("/proc/sys/kernel/yama/ptrace_scope", "", 10);
	struct stat st;

	if (err == -ENOSYS)
		return WITHOUT_LIBDW;
	if (err == -EBUSY)
		return "a thread waits in the kernel and does not stop";
	if (err == -ENOEXEC)
		return "it is a 32-bit program; only stacks of 64 bits are read";
	if (err == -ENOENT)
		return "it has ended";
	if (err == -EAGAIN)
		return "it is just starting; try again";
	if (err != -EPERM && err != -EACCES)
		return strerror(-err);
	if (tracer)
		return format_string("process %llu traces it already", tracer);
	if (geteuid() && !stat(status, &st) && st.st_uid != geteuid())
		return "it belongs to another user; only root may stop it";
	if (scope)
		return format_string("/proc/sys/kernel/yama/ptrace_scope is %llu; with %s", scope,
				     scope < 3 ? "0, or as root, it can be stopped"
					       : "3, none can be stopped");
	return "this container may not trace: start it with --cap-add=SYS_PTRACE";
}

static int print_process(pid_t pid)
{
	char *name = format_string("/proc/%d/exe", (int)pid);
	struct elf_info info;
	int err = elf_info_read(name, &info), unlisted;

	print_text(stdout, "process %d\n", (int)pid);
	unlisted = regtab_list(print_registrations, &pid);
	if (unlisted)
		refuse_to_list(unlisted);
	if (!err)
		err = info.bits == 64 ? stacks_of_process(pid, print_stack) : -ENOEXEC;
	fflush(stdout);
	if (err)
		say("process %d: %s", (int)pid, why_not_stopped(pid, err));
	return err ? 1 : 0;
}

/* A process may have several opened devices. */
static int note_pids(void *context, const struct regtab_view *view)
{
	struct string_list *pids = context;

	if (view->members->reason)
		say_reason(view->members);
	for (unsigned int i = 0; i < view->member_count; i++) {
		const struct regtab_view_member *member = &view->members[i];
		char *pid = format_string("%d", (int)member->pid);

		if (!member->reason && !string_list_has(pids, pid))
			string_list_add(pids, pid);
	}
	return 0;
}

int print_stacks(char **pids)
{
	struct string_list members = { 0 };
	int status = 0, err = 0;
	char *end;

	if (!pids[0])
		err = regtab_list(note_pids, &members);
	if (err)
		return refuse_to_list(err);
	say_more_unread();
	string_list_add(&members, NULL);
	for (pids = pids[0] ? pids : members.item; *pids; pids++) {
		long pid = strtol(*pids, &end, 10);

		if (*end || pid < 1 || pid > INT_MAX)
			return refuse(TOOL_EXIT_REFUSED, "ps: %s is no process", *pids);
		status |= print_process((pid_t)pid);
	}
	return status;
}

int print_core(const char *file)
{
	int err = stacks_of_core(file, print_stack);

	if (err == -ENOEXEC || (err == -EACCES && !access(file, R_OK)))
		return refuse(TOOL_EXIT_REFUSED, "%s is no core file of a 64-bit program", file);
	return err ? refuse(TOOL_EXIT_REFUSED, "%s: %s", file,
			    err == -ENOSYS ? WITHOUT_LIBDW : strerror(-err)) : 0;
}
