/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program whose allocator maps memory under a lock of its own, as tcmalloc does. */
#include <e2e/rig.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE   4096
#define ROUNDS 300

extern void *__libc_malloc(size_t size);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool stop;

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	void *memory;

	pthread_mutex_lock(&lock);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(memory, PAGE);
	memory = __libc_malloc(size);
	pthread_mutex_unlock(&lock);
	return memory;
}

static void *allocate(void *unused)
{
	while (!stop) {
		void *volatile memory = malloc(1);

		free(memory);
	}
	return unused;
}

/* The loader calls malloc() while it holds its own lock. */
ROW("the loader and the allocator do not wait for each other")
{
	pthread_t thread;

	must(rig_host(0) && !pthread_create(&thread, NULL, allocate, NULL));
	alarm(30);
	for (int i = 0; i < ROUNDS; i++)
		must_eq(dlclose(MADE(dlopen("libanl.so.1", RTLD_NOW))), 0);
	stop = true;
	must_eq(pthread_join(thread, NULL), 0);
}
