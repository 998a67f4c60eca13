/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Walks the stacks of other processes by libunwind. libunwind-ptrace would read each word by a
 * system call while the thread is stopped, which takes 15 ms. libunwind-coredump 1.6 finds no
 * unwind tables of programs that are linked today.
 */
#include "stack.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 1	/* a thread that waits in the kernel for a device does not stop */

bool stack_read(const struct stack *stack, uint64_t address, void *to, size_t size)
{
	uint64_t at = address - stack->base;

	if (at >= stack->size || stack->size - at < size)
		return image_read(stack->image, address, to, size);
	memcpy(to, stack->memory + at, size);
	return true;
}

#ifdef TRACE_LIBUNWIND
#include <libunwind.h>

/* No header of libunwind declares it, but perf relies on it too. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_unwind_table(unw_addr_space_t space, unw_word_t address, unw_dyn_info_t *table,
			       unw_proc_info_t *info, int need, void *context);

/* The registers of the kernel, in the order of libunwind's numbers. */
#ifdef __x86_64__
enum { POINTER = 7, PROGRAM_COUNTER = 16 };
static const unsigned char kernel_register[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9,
						  8,  7,  6,  3, 2, 1,	0, 16 };
#define KERNEL_REGISTER(number) kernel_register[number]
#else
enum { POINTER = 31, PROGRAM_COUNTER = 32 };
#define KERNEL_REGISTER(number) (number)
#endif

struct walk {
	struct stack *stack;
	const elf_gregset_t *registers;
};

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
			 void *context)
{
	const struct walk *walk = context;

	(void)space;
	return !write && stack_read(walk->stack, address, value, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
			   int write, void *context)
{
	const struct walk *walk = context;

	(void)space;
	if (write || number < 0 || number > PROGRAM_COUNTER)
		return -UNW_EBADREG;
	*value = (*walk->registers)[KERNEL_REGISTER(number)];
	return 0;
}

/* .eh_frame_hdr: version, three encodings, the address of .eh_frame, the count, sorted pairs. */
static int find_table(unw_addr_space_t space, unw_word_t address, unw_proc_info_t *info, int need,
		      void *context)
{
	static const unsigned char form[] = { 1, 0x1b, 0x03, 0x3b };	/* of all linkers */
	const struct stack *stack = ((struct walk *)context)->stack;
	unw_dyn_info_t table = { .format = UNW_INFO_FORMAT_REMOTE_TABLE, .end_ip = UINT64_MAX };
	struct image_file file;
	struct {
		unsigned char form[4];
		int32_t frames;
		uint32_t count;
	} head;

	if (!image_find(stack->image, address, &file) || !file.unwind_table ||
	    !image_read(stack->image, file.unwind_table, &head, sizeof(head)) ||
	    memcmp(head.form, form, sizeof(form)))
		return -UNW_ENOINFO;
	table.u.rti.segbase = file.unwind_table;
	table.u.rti.table_data = file.unwind_table + sizeof(head);
	table.u.rti.table_len = head.count * 8 / sizeof(unw_word_t);
	return search_unwind_table(space, address, &table, info, need, context);
}

static void forget_table(unw_addr_space_t space, unw_proc_info_t *info, void *context)
{
	(void)space, (void)info, (void)context;
}

static int no_dynamic_code(unw_addr_space_t space, unw_word_t *list, void *context)
{
	(void)space, (void)list, (void)context;
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_table,
	.put_unwind_info = forget_table,
	.get_dyn_info_list_addr = no_dynamic_code,
	.access_mem = access_memory,
	.access_reg = access_register,
};

static int walk_stack(struct stack *stack, const elf_gregset_t *registers)
{
	unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
	struct walk walk = { stack, registers };
	unw_word_t address, pointer;
	unw_cursor_t cursor;

	stack->frame_count = 0;
	if (!space || unw_init_remote(&cursor, space, &walk))
		return -ENOMEM;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &address) || !address ||
		    unw_get_reg(&cursor, UNW_REG_SP, &pointer))
			break;
		/* A return address is behind its call; what a signal interrupted is no call. */
		if (stack->frame_count && unw_is_signal_frame(&cursor) <= 0)
			address--;
		stack->frame[stack->frame_count].address = address;
		stack->frame[stack->frame_count++].pointer = pointer;
	} while (stack->frame_count < STACK_FRAMES && unw_step(&cursor) > 0);
	unw_destroy_addr_space(space);
	return 0;
}

static uint64_t stack_pointer(const elf_gregset_t *registers)
{
	return (*registers)[KERNEL_REGISTER(POINTER)];
}
#else
static int walk_stack(struct stack *stack, const elf_gregset_t *registers)
{
	(void)stack, (void)registers;
	return -ENOSYS;
}

static uint64_t stack_pointer(const elf_gregset_t *registers)
{
	(void)registers;
	return 0;
}
#endif

/* ---- threads ---- */

static void begin(struct stack *stack, const struct image *image, pid_t thread)
{
	stack->image = image;
	stack->thread = thread;
	stack->stop_us = 0;
	stack->size = 0;
}

static int copy_stopped(struct stack *stack, elf_gregset_t *registers)
{
	struct iovec all = { registers, sizeof(*registers) };
	struct iovec here = { stack->memory, sizeof(stack->memory) }, there = here;
	ssize_t size;

	if (ptrace(PTRACE_GETREGSET, stack->thread, NT_PRSTATUS, &all))
		return -errno;
	stack->base = stack_pointer((const elf_gregset_t *)registers);
	there.iov_base = (void *)(uintptr_t)stack->base;
	size = process_vm_readv(stack->thread, &here, 1, &there, 1, 0);
	stack->size = size > 0 ? (size_t)size : 0;
	return 0;
}

int stack_of_stopped(const struct image *image, pid_t thread, struct stack *stack)
{
	elf_gregset_t registers;
	int err;

	begin(stack, image, thread);
	err = copy_stopped(stack, &registers);
	return err ? err : walk_stack(stack, (const elf_gregset_t *)&registers);
}

int stack_of_dead(const struct image *image, const struct image_thread *thread, struct stack *stack)
{
	begin(stack, image, thread->thread);
	return walk_stack(stack, &thread->registers);
}

static uint64_t microseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000u;
}

/*
 * The signal that stopped the thread, 0 for ours, or -errno. SIGCHLD is blocked. A thread that does
 * not stop (-EBUSY) cannot be detached either. The kernel does that when this command ends.
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

int stack_of_thread(const struct image *image, pid_t thread, struct stack *stack)
{
	elf_gregset_t registers;
	sigset_t child;
	uint64_t start;
	int number, err;

	begin(stack, image, thread);
	if (ptrace(PTRACE_SEIZE, thread, 0, 0))
		return -errno;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	start = microseconds();
	if (ptrace(PTRACE_INTERRUPT, thread, 0, 0))
		return -errno;
	number = wait_for_stop(thread, &child);
	if (number < 0)
		return number;
	err = copy_stopped(stack, &registers);
	stack->stop_us = (unsigned int)(microseconds() - start);
	/* A signal that arrived meanwhile must reach the program. */
	ptrace(PTRACE_DETACH, thread, 0, number);
	return err ? err : walk_stack(stack, (const elf_gregset_t *)&registers);
}
