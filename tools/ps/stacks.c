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
#include <unistd.h>

#define WITHOUT_LIBDW "this build is without libdw"

static void print_stack(const struct stack *stack)
{
	unsigned int number = 0;

	print_text(stdout, "  thread %d", (int)stack->thread);
	if (stack->stop_us)
		print_text(stdout, ", stopped at most %u us", stack->stop_us);
	print_text(stdout, "%s%s:\n", stack->call ? ", in " : "", stack->call ? stack->call : "");
	for (size_t i = 0; i < stack->frame_count; i++)
		place_print_all(stdout, "    ", stack->frame[i].place, &number);
}

/* ---- registrations ---- */

/* The first of the process's opened devices that is registered with the QP. NULL: none is. */
static const struct regtab_view_member *registrant(const struct regtab_view *table,
						   const struct regtab_view_qp *qp, pid_t pid)
{
	for (unsigned int i = 0; i < table->member_count; i++) {
		if (table->members[i].pid == pid && regtab_view_registered(table, qp->qp_num, i))
			return &table->members[i];
	}
	return NULL;
}

/* Also names the other processes that are registered with the QP, which keep it alive. */
static void print_registration(const struct regtab_view *table, const struct regtab_view_qp *qp,
			       pid_t pid)
{
	const struct regtab_view_member *own = registrant(table, qp, pid);
	const char *separator = ";";

	if (!own)
		return;
	print_text(stdout, "  registered with QP 0x%06x of %s", qp->qp_num, own->key.device);
	EACH(member, table->members, table->member_count) {
		if (member->pid == pid || registrant(table, qp, member->pid) != member)
			continue;
		print_text(stdout, "%s so is %d", separator, (int)member->pid);
		separator = ",";
	}
	putchar('\n');
}

static void print_registrations_of(pid_t pid, const struct regtab_view *all)
{
	struct regtab_view table = { 0 };
	struct regtab_view_qp qp;

	while (regtab_view_next_table(all, &table)) {
		for (uint32_t from = 0; regtab_view_next_qp(&table, from, &qp);
		     from = qp.qp_num + 1)
			print_registration(&table, &qp, pid);
	}
}

/* ---- processes ---- */

/* Which rule of the kernel keeps this command from tracing the process, and what to do. */
static const char *why_not_permitted(pid_t pid)
{
	/* Files in /proc are of root if the process is not dumpable: their owner tells nothing. */
	char *status = format_string("/proc/%d/status", (int)pid);
	unsigned long long tracer = regular_number(status, "TracerPid:", 10);
	unsigned long long scope = regular_number("/proc/sys/kernel/yama/ptrace_scope", "", 10);

	if (tracer)
		return format_string("process %llu traces it already", tracer);
	if (geteuid() && regular_number(status, "Uid:", 10) != geteuid())
		return "it belongs to another user; only root may stop it";
	if (scope == 3 || (scope && geteuid()))
		return format_string("/proc/sys/kernel/yama/ptrace_scope is %llu; with %s", scope,
				     scope < 3 ? "0, or as root, it can be stopped"
					       : "3, none can be stopped");
	return geteuid() ? "it or this container forbids that; root outside may stop it"
			 : "this container may not trace: start it with --cap-add=SYS_PTRACE";
}

static const char *why_not_stopped(pid_t pid, int err)
{
	switch (-err) {
	case ENOSYS:
		return WITHOUT_LIBDW;
	case EBUSY:
		return "a thread waits in the kernel and does not stop";
	case ENOEXEC:
		return "it is a 32-bit program; only stacks of 64 bits are read";
	case ENOENT:
		return "it has ended, or is the kernel's own";
	case EAGAIN:
		return "it is just starting; try again";
	case EPERM:
	case EACCES:
		return why_not_permitted(pid);
	default:
		return strerror(-err);
	}
}

static int print_process(pid_t pid, const struct regtab_view *all)
{
	char *name = format_string("/proc/%d/exe", (int)pid);
	struct elf_info info;
	int err = elf_info_read(name, &info);

	print_text(stdout, "process %d\n", (int)pid);
	print_registrations_of(pid, all);
	if (!err)
		err = info.bits == 64 ? stacks_of_process(pid, print_stack) : -ENOEXEC;
	fflush(stdout);
	if (err)
		say("process %d: %s", (int)pid, why_not_stopped(pid, err));
	return err ? 1 : 0;
}

/* ---- the processes that are asked for ---- */

/* 0: the word is no number of a process. */
static pid_t pid_of(const char *word)
{
	char *end;
	long pid = strtol(word, &end, 10);

	return *end || pid < 1 || pid > INT_MAX ? 0 : (pid_t)pid;
}

/* Whether an earlier member is of the same process, which may have several opened devices. */
static bool is_repeated(const struct regtab_view *all, const struct regtab_view_member *member)
{
	const struct regtab_view_member *other = all->members;

	while (other < member && other->pid != member->pid)
		other++;
	return other < member;
}

static int print_members(const struct regtab_view *all)
{
	int status = 0;

	say_reasons(all, 0);
	EACH(member, all->members, all->member_count) {
		if (member->reason)
			status |= !member->unread;
		else if (!is_repeated(all, member))
			status |= print_process(member->pid, all);
	}
	return status;
}

int print_stacks(char **words)
{
	struct regtab_view all;
	int status = 0, err;

	for (char **word = words; *word; word++) {
		if (!pid_of(*word))
			return refuse(TOOL_EXIT_REFUSED, "ps: %s is no process", *word);
	}
	err = regtab_read(&all);
	if (err)
		refuse_to_list(err);
	/* Named processes are still shown, then without registrations. */
	if (err && !words[0])
		return TOOL_EXIT_REFUSED;
	if (!words[0])
		status = print_members(&all);
	for (; *words; words++) {
		status |= err || say_reasons(&all, pid_of(*words));
		status |= print_process(pid_of(*words), &all);
	}
	regtab_free(&all);
	return status;
}

/* ---- core files ---- */

int print_core(const char *file)
{
	int err = stacks_of_core(file, print_stack);

	if (err == -ENOEXEC || (err == -EACCES && !access(file, R_OK)))
		return refuse(TOOL_EXIT_REFUSED, "%s is no core file of a 64-bit program", file);
	if (err == -ENOSYS)
		return refuse(TOOL_EXIT_REFUSED, "%s: " WITHOUT_LIBDW, file);
	return err ? refuse(TOOL_EXIT_REFUSED, "%s: %s", file, strerror(-err)) : 0;
}
