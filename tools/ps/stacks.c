/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat ps --stacks`: where the threads of the processes with an open domain are. */
#include "tools/common/command.h"
#include "tools/common/memory.h"
#include "tools/common/message.h"
#include "tools/files/elf_info.h"
#include "tools/files/paths.h"
#include "tools/stack/stack.h"
#include "tools/tables/view.h"
#include "stacks.h"

#include <abi/verb.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <shim/tracer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *name, *arguments;
} functions[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, arguments },
	ABI_FUNCTIONS(X)
#undef X
};

/* ---- the legacy call ---- */

/* The entry points of the library have these names before its symbols are stripped. */
#define INSIDE "shim_"

static int verb_at(const struct place *place)
{
	for (; place; place = place->outer) {
		const char *name = place->symbol;

		name += strncmp(name, INSIDE, strlen(INSIDE)) ? 0 : strlen(INSIDE);
		for (int verb = 0; verb < VERBS && strstr(place->module, "/libxrc-compat.so"); verb++) {
			size_t length = strlen(functions[verb].name);

			if (!strncmp(name, functions[verb].name, length) &&
			    (!name[length] || name[length] == '@'))
				return verb;
		}
	}
	return -1;
}

/* The frame of the entry point has a struct shim_call, somewhere. */
static uint64_t find_arguments(const struct stack *stack, size_t frame, int verb)
{
	uint64_t start = stack->frame[frame].pointer, end;
	struct shim_call call;

	end = frame + 1 < stack->frame_count ? stack->frame[frame + 1].pointer : start;
	for (uint64_t at = start; at + sizeof(call) <= end; at += sizeof(void *)) {
		if (stack_read(stack, at, &call, sizeof(call)) && (int)call.verb == verb &&
		    (uintptr_t)call.arguments - start < end - start)
			return (uintptr_t)call.arguments;
	}
	return 0;
}

/* "=name" is the result; ">name" is read after the call. */
static void print_arguments(const struct stack *stack, uint64_t from, const char *name)
{
	const char *separator = "";
	size_t length;
	uint64_t word;

	for (; *name && *name != '='; name += length + (name[length] == ',')) {
		name += *name == '>';
		length = strcspn(name, ",");
		if (!stack_read(stack, from, &word, sizeof(word)))
			return;
		printf("%s%.*s=%#llx", separator, (int)length, name, (unsigned long long)word);
		separator = ", ";
		from += sizeof(word);
	}
}

static const struct place *place_in(const struct stack *stack, size_t frame)
{
	uint64_t address = stack->frame[frame].address;
	struct image_file file = { .path = "" };

	image_find(stack->image, address, &file);
	return place_of(file.path, address - file.base);
}

static void print_stack(const struct stack *stack)
{
	unsigned int number = 0;
	uint64_t arguments;

	printf("  thread %d", (int)stack->thread);
	if (stack->stop_us)
		printf(", stopped %u us,", stack->stop_us);
	for (size_t i = 0; i < stack->frame_count; i++) {
		int verb = verb_at(place_in(stack, i));

		if (verb < 0)
			continue;
		arguments = find_arguments(stack, i, verb);
		printf(" in %s(", functions[verb].name);
		if (arguments)
			print_arguments(stack, arguments, functions[verb].arguments);
		putchar(')');
		break;
	}
	puts(":");
	for (size_t i = 0; i < stack->frame_count; i++) {
		for (const struct place *place = place_in(stack, i); place; place = place->outer) {
			printf("    #%u ", number++);
			place_print(stdout, place);
		}
	}
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
		printf("%s is %u (%s)", separator, other->pid, other->live ? "live" : "stale");
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

		if ((pid_t)member->pid != *pid || member->foreign)
			continue;
		for (uint32_t from = 0; regtab_view_next(view, from, &qp); from = qp.qp_num + 1) {
			if (!regtab_view_registered(view, qp.qp_num, i))
				continue;
			printf("  registered with QP 0x%06x of %s", qp.qp_num, member->key.device);
			print_others(view, qp.qp_num, i);
		}
	}
	return 0;
}

/* ---- processes ---- */

static long number_in(const char *path, const char *name)
{
	char *line = NULL, *found;
	FILE *file = fopen(path, "re");
	size_t size = 0;
	long number = 0;

	while (file && getline(&line, &size, file) > 0) {
		found = !strncmp(line, name, strlen(name)) ? line + strlen(name) : NULL;
		if (found)
			number = strtol(found, NULL, 10);
	}
	free(line);
	if (file)
		fclose(file);
	return number;
}

/* Why the kernel does not let this command stop the process, and what to do. */
static void refuse_process(pid_t pid, int err)
{
	char *status = format_string("/proc/%d/status", (int)pid);
	long tracer = number_in(status, "TracerPid:");
	long scope = number_in("/proc/sys/kernel/yama/ptrace_scope", "");
	struct stat st;

	if (err == -ENOSYS)
		say("process %d: this build is without libunwind", (int)pid);
	else if (err == -EBUSY)
		say("process %d: a thread waits in the kernel and does not stop", (int)pid);
	else if (err == -ENOEXEC)
		say("process %d: it is a 32-bit program; only stacks of 64 bits are read", (int)pid);
	else if (err == -ENOENT)
		say("process %d: it has ended", (int)pid);
	else if (err != -EPERM && err != -EACCES)
		say("process %d: %s", (int)pid, strerror(-err));
	else if (tracer)
		say("process %d: process %ld traces it already", (int)pid, tracer);
	else if (geteuid() && !stat(status, &st) && st.st_uid != geteuid())
		say("process %d: it belongs to another user; only root may stop it", (int)pid);
	else if (scope)
		say("process %d: /proc/sys/kernel/yama/ptrace_scope is %ld; with %s", (int)pid, scope,
		    scope < 3 ? "0, or as root, it can be stopped" : "3, none can be stopped");
	else
		say("process %d: this container may not trace: start it with --cap-add=SYS_PTRACE",
		    (int)pid);
	free(status);
}

static int print_threads(pid_t pid)
{
	char *name = format_string("/proc/%d/task", (int)pid);
	static struct stack stack;
	struct image image;
	struct dirent *entry;
	DIR *tasks = opendir(name);
	int err = tasks ? image_of_process(pid, &image) : -errno;

	while (!err && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		err = stack_of_thread(&image, (pid_t)atoi(entry->d_name), &stack);
		if (!err)
			print_stack(&stack);
		else if (err == -ESRCH)	/* this thread has ended */
			err = 0;
	}
	if (tasks) {
		closedir(tasks);
		image_close(&image);
	}
	free(name);
	return err;
}

static int print_process(pid_t pid)
{
	char *name = format_string("/proc/%d/exe", (int)pid);
	struct elf_info info;
	int err = elf_info_read(name, &info);

	free(name);
	printf("process %d\n", (int)pid);
	regtab_list(paths_table_directory(), print_registrations, &pid);
	if (!err)
		err = info.bits == 64 ? print_threads(pid) : -ENOEXEC;
	fflush(stdout);
	if (err)
		refuse_process(pid, err);
	return err ? 1 : 0;
}

/* A process may have several opened devices. */
static int note_pids(void *context, const struct regtab_view *view)
{
	struct string_list *pids = context;

	for (unsigned int i = 0; i < view->member_count; i++) {
		const struct regtab_view_member *member = &view->members[i];
		char *pid = format_string("%u", member->pid);

		if (member->live && !member->foreign && !string_list_has(pids, pid))
			string_list_add(pids, pid);
		free(pid);
	}
	return 0;
}

int print_stacks(struct string_list *pids)
{
	const char *directory = paths_table_directory();
	int status = 0, err = pids->count ? 0 : regtab_list(directory, note_pids, pids);
	char *end;

	if (err)
		return refuse(TOOL_EXIT_REFUSED, "the table directory %s: %s", directory,
			      strerror(-err));
	for (size_t i = 0; i < pids->count; i++) {
		long pid = strtol(pids->item[i], &end, 10);

		if (*end || pid < 1 || pid > INT_MAX)
			return refuse(TOOL_EXIT_REFUSED, "ps: %s is no process", pids->item[i]);
		status |= print_process((pid_t)pid);
	}
	return status;
}

int print_core(const char *file)
{
	static struct stack stack;
	struct image image;
	int err = image_of_core(file, &image);

	for (size_t i = 0; !err && i < image.thread_count; i++) {
		err = stack_of_dead(&image, &image.threads[i], &stack);
		if (!err)
			print_stack(&stack);
	}
	image_close(&image);
	if (err == -ENOEXEC)
		return refuse(TOOL_EXIT_REFUSED, "%s is no core file of a 64-bit program", file);
	return err ? refuse(TOOL_EXIT_REFUSED, "%s: %s", file, strerror(-err)) : 0;
}
