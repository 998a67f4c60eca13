/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that makes one legacy call, which fails, from below a stack that is hard to walk:
 * stack-kinds KIND. Afterwards it prints the files that have the functions of its own unwinder.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP_FRAME __asm__ volatile("" ::: "memory")	/* no tail call */

void early_call(void);

__attribute__((noinline)) static void legacy_call(void)
{
	ibv_unreg_xrc_rcv_qp(NULL, 1);
	KEEP_FRAME;
}

__attribute__((noinline)) static void with_tables(void)
{
	legacy_call();
	KEEP_FRAME;
}

/* Functions of assembler code without unwind tables. %rdi is the function that they call. */
void with_frame_pointer(void (*function)(void));
void without_frame_pointer(void (*function)(void));
void end_of_stack(void (*function)(void));
extern const char generated[], generated_end[];

__asm__(".text\n"
	".type with_frame_pointer, @function\n.type without_frame_pointer, @function\n"
	".type end_of_stack, @function\n"
	"with_frame_pointer: push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret\n"
	"without_frame_pointer: sub $24, %rsp; call *%rdi; add $24, %rsp; ret\n"
	"generated: push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret\n"
	"generated_end: nop\n"
	/* Above the call the stack has a return address and a frame pointer that lead nowhere. */
	"end_of_stack: push %rbp; mov %rsp, %rbp; push %rbx; mov %rsp, %rbx\n"
	"push $0; push $0x1234567; push $0x7654321; mov %rsp, %rbp; call *%rdi\n"
	"mov %rbx, %rsp; pop %rbx; pop %rbp; ret\n");

static void by_generated_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, generated, (size_t)(generated_end - generated));
	((void (*)(void (*)(void)))page)(legacy_call);
}

static void on_signal(int number)
{
	(void)number;
	legacy_call();
	KEEP_FRAME;
}

static void by_signal(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	KEEP_FRAME;
}

/* ---- another thread keeps the loader's lock ---- */

static pthread_barrier_t locked, called;

static int wait_in_callback(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info, (void)size, (void)context;
	pthread_barrier_wait(&locked);
	pthread_barrier_wait(&called);
	return 1;
}

static void *lock_loader(void *unused)
{
	dl_iterate_phdr(wait_in_callback, NULL);
	return unused;
}

/* Both calls have one place, of which only the first may ask the loader. */
static void by_lock(void)
{
	pthread_t thread;

	pthread_barrier_init(&locked, NULL, 2);
	pthread_barrier_init(&called, NULL, 2);
	for (volatile int i = 0; i < 2; i++) {
		if (i && pthread_create(&thread, NULL, lock_loader, NULL))
			exit(2);
		if (i)
			pthread_barrier_wait(&locked);
		legacy_call();
		if (i)
			pthread_barrier_wait(&called);
	}
	pthread_join(thread, NULL);
}

/* ---- start ---- */

static void print_file_of(const char *function)
{
	void *found = dlsym(RTLD_DEFAULT, function);
	Dl_info info = { .dli_fname = "none" };

	if (found)
		dladdr(found, &info);
	printf("%s %s\n", function, info.dli_fname);
}

/* Exported, so that its name is left in a stripped copy. */
__attribute__((visibility("default"))) int main(int argc, char **argv)
{
	const char *kind = argc == 2 ? argv[1] : "";

	alarm(60);
	early_call();
	if (!strcmp(kind, "tables"))
		with_tables();
	else if (!strcmp(kind, "frame-pointer"))
		with_frame_pointer(legacy_call);
	else if (!strcmp(kind, "no-frame-pointer"))
		without_frame_pointer(legacy_call);
	else if (!strcmp(kind, "end"))
		end_of_stack(legacy_call);
	else if (!strcmp(kind, "generated"))
		by_generated_code();
	else if (!strcmp(kind, "signal"))
		by_signal();
	else if (!strcmp(kind, "lock"))
		by_lock();
	print_file_of("backtrace");
	print_file_of("_Unwind_RaiseException");
	return 0;
}
