/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The one lock of the library, and how a forked child begins. */
#include "state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static PER_PROCESS pthread_mutex_t lock;
static PER_PROCESS pthread_cond_t changed;

/* ---- the mark of a process ---- */

/*
 * The kernel wipes the mark in a child, also in a child of _Fork() or clone(2), which run no fork
 * handlers. Process ids do not tell them apart: both may be process 1 of a pid namespace.
 */
enum { NEW, BEGINNING, BEGUN };

static atomic_int mark_of_old_kernels;
static atomic_int *mark = &mark_of_old_kernels;

/* Linux before 4.14 wipes no pages. There a child of _Fork() is not told from its parent. */
static void in_child(void)
{
	atomic_store(&mark_of_old_kernels, NEW);
}

__attribute__((constructor)) static void make_mark(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || madvise(page, size, MADV_WIPEONFORK)) {
		munmap(page, size); /* refuses MAP_FAILED */
		pthread_atfork(NULL, NULL, in_child);
		return;
	}
	/* The constructor of another library may have called a verb before. */
	atomic_init((atomic_int *)page, atomic_load(mark));
	mark = page;
}

/* The linker sets these to the section of the PER_PROCESS variables. */
extern char __start_per_process[] __attribute__((visibility("hidden")));
extern char __stop_per_process[] __attribute__((visibility("hidden")));

/* Not by memset(), which ThreadSanitizer would check against the parent's other threads. */
static __attribute__((no_sanitize("thread"))) void forget_parent(void)
{
	for (volatile char *byte = __start_per_process; byte < __stop_per_process; byte++)
		*byte = 0;
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&changed, NULL);
}

/* A child may have several threads by the time of its first verb. */
static __attribute__((noinline, cold)) void begin_process(void)
{
	const struct timespec pause = { .tv_nsec = 10000 };
	int expected = NEW;

	if (atomic_compare_exchange_strong(mark, &expected, BEGINNING)) {
		forget_parent();
		atomic_store_explicit(mark, BEGUN, memory_order_release);
	}
	while (atomic_load_explicit(mark, memory_order_acquire) != BEGUN)
		nanosleep(&pause, NULL);
}

/* ---- the lock ---- */

void state_begin(void)
{
	if (atomic_load_explicit(mark, memory_order_acquire) != BEGUN)
		begin_process();
}

void state_lock(void)
{
	state_begin();
	pthread_mutex_lock(&lock);
}

void state_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void state_wait(void)
{
	pthread_cond_wait(&changed, &lock);
}

void state_changed(void)
{
	pthread_cond_broadcast(&changed);
}
