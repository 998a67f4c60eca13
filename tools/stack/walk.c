/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Walks the stacks of other processes by libdwfl. libunwind-ptrace reads each word by a system call
 * while the thread is stopped, which takes 15 ms. libunwind-coredump 1.6 finds no unwind tables of
 * programs that are linked today.
 */
#include "image.h"

#include <abi/functions.h>
#include <tools/aside/clock.h>
#include <tools/text/memory.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static int add_frame(Dwfl_Frame *frame, void *context)
{
	struct stack *stack = context;
	Dwarf_Addr address;
	bool is_exact;	/* the next instruction of the thread, or of what a signal interrupted */

	if (!dwfl_frame_pc(frame, &address, &is_exact) || !address)
		return DWARF_CB_ABORT;
	/* A return address is behind its call. */
	stack->frame[stack->frame_count++].address = address - !is_exact;
	return stack->frame_count < STACK_FRAMES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* ---- the legacy call ---- */

static const char *const functions[] = {
#define X(function, returns, unsupported, arguments, port) #function,
	ABI_FUNCTIONS(X)
#undef X
};

/*
 * The function of a symbol of libxrc-compat, or NULL. An exported function is shim_NAME in its
 * source. In a program with XRC it may have jumped to a function whose name lacks "ibv_", as
 * destroy_qp() does.
 */
static const char *function_of(const char *symbol)
{
	symbol += strncmp(symbol, "shim_", 5) ? 0 : 5;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!strcmp(functions[i], symbol) || !strcmp(strchr(functions[i], '_') + 1, symbol))
			return functions[i];
	}
	return NULL;
}

/* The outermost call is the program's. A provider may call another function from there. */
static const char *legacy_call(const struct stack *stack)
{
	const char *call = NULL;

	for (size_t i = 0; i < stack->frame_count; i++) {
		for (const struct place *at = stack->frame[i].place; at; at = at->outer) {
			const char *name = strstr(at->module, "libxrc-compat.so")
						   ? function_of(at->symbol) : NULL;

			call = name ? name : call;
		}
	}
	return call;
}

static void name_frames(const struct image *image, struct stack *stack)
{
	for (size_t i = 0; i < stack->frame_count; i++) {
		uint64_t address = stack->frame[i].address;
		Dwfl_Module *module = dwfl_addrmodule(image->dwfl, address);
		const char *name = "", *file = NULL;
		Dwarf_Addr bias = 0;

		if (module && dwfl_module_getelf(module, &bias))
			name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
		stack->frame[i].place = place_of(file ? file : name, address - bias);
	}
	stack->call = legacy_call(stack);
}

/* ---- stopping ---- */

static sigset_t child; /* SIGCHLD, which is blocked */

static int wait_for_stop(pid_t thread)
{
	static const struct timespec patience = { .tv_sec = 1 };
	pid_t stopped;
	int status;

	while (!(stopped = waitpid(thread, &status, __WALL | WNOHANG))) {
		if (sigtimedwait(&child, NULL, &patience) < 0 && errno == EAGAIN)
			return -EBUSY;
	}
	if (stopped < 0 || !WIFSTOPPED(status))
		return -ESRCH;
	return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

/*
 * Returns the signal to pass on to the thread, or -errno. libdwfl can stop threads too, but by
 * SIGSTOP, and it would wait for ever for a thread that waits in the kernel for a device.
 * @start: when the stop began at the earliest. The kernel does not tell when it did.
 */
static int thread_stop(pid_t thread, uint64_t *start)
{
	if (ptrace(PTRACE_SEIZE, thread, 0, 0))
		return -errno;
	/* The thread will wait for this one. Without RLIMIT_RTPRIO it may wait for a tick more. */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
	*start = clock_now();
	return ptrace(PTRACE_INTERRUPT, thread, 0, 0) ? -errno : wait_for_stop(thread);
}

/* ---- processes ---- */

void stack_of_stopped(pid_t process, struct stack *stack)
{
	struct image image;

	if (!image_of_process(process, &image)) {
		dwfl_getthread_frames(image.dwfl, stack->thread, add_frame, stack);
		name_frames(&image, stack);
	}
	image_close(&image);
}

struct visit {
	const struct image *image;
	struct stack stack;
	int number; /* as of thread_stop() */
};

static void *walk_running(void *context)
{
	struct visit *visit = context;
	struct stack *stack = &visit->stack;
	uint64_t start = 0;

	visit->number = thread_stop(stack->thread, &start);
	if (visit->number < 0)
		return NULL;
	dwfl_getthread_frames(visit->image->dwfl, stack->thread, add_frame, stack);
	stack->stop_us = (unsigned int)((clock_now() - start) / 1000);
	ptrace(PTRACE_DETACH, stack->thread, 0, visit->number);
	return NULL;
}

/* Walks in a thread of this command: its end also detaches what did not stop and would later. */
static int visit_running(const struct image *image, pid_t thread, stack_visit *show)
{
	struct visit visit = { .image = image, .stack.thread = thread };
	pthread_t walker;

	if (pthread_create(&walker, NULL, walk_running, &visit))
		return -ENOMEM;
	pthread_join(walker, NULL);
	if (visit.number < 0)
		return visit.number;
	name_frames(image, &visit.stack);
	show(&visit.stack);
	return 0;
}

int stacks_of_process(pid_t process, stack_visit *visit)
{
	DIR *tasks = opendir(format_string("/proc/%d/task", (int)process));
	struct dirent *entry;
	struct image image;
	int failed, err;

	if (!tasks)
		return -errno;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	err = image_of_process(process, &image);
	while ((!err || err == -EBUSY) && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		failed = visit_running(&image, atoi(entry->d_name), visit);
		if (failed && failed != -ESRCH)	/* which a thread gives that has ended */
			err = failed;
	}
	closedir(tasks);
	image_close(&image);
	return err;
}

/* ---- core files ---- */

static int visit_dead(Dwfl_Thread *thread, void *context)
{
	const struct image *image = context;
	struct stack stack = { .thread = dwfl_thread_tid(thread) };

	dwfl_thread_getframes(thread, add_frame, &stack);
	name_frames(image, &stack);
	image->visit(&stack);
	return DWARF_CB_OK;
}

int stacks_of_core(const char *file, stack_visit *visit)
{
	struct image image;
	int err = image_of_core(file, &image);

	image.visit = visit;
	if (!err && dwfl_getthreads(image.dwfl, visit_dead, &image))
		err = -ENOEXEC;
	image_close(&image);
	return err;
}
