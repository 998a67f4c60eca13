/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program whose allocator maps memory under a lock of its own, as tcmalloc does, and deregisters
 * memory, as that of MVAPICH 1.2 with its registration cache when it needs more memory.
 */
#include <e2e/rig.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE   4096
#define ROUNDS 300

#define MRS    64
#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool stop;
static struct ibv_mr *unused[MRS];
static int unused_count;

static void deregister_one(void)
{
	if (unused_count > 0)
		must_eq(ibv_dereg_mr(unused[--unused_count]), 0);
}

EXPORT void *realloc(void *memory, size_t size)
{
	deregister_one();
	return __libc_realloc(memory, size);
}

EXPORT void *malloc(size_t size)
{
	void *memory;

	deregister_one();
	pthread_mutex_lock(&lock);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(memory, PAGE);
	memory = __libc_malloc(size);
	pthread_mutex_unlock(&lock);
	return memory;
}

static void *allocate(void *nothing)
{
	while (!stop) {
		void *volatile memory = malloc(1);

		free(memory);
	}
	return nothing;
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

/* The library holds a lock during a command. */
ROW("an allocator may deregister memory while objects are created")
{
	struct host *host = rig_host(0);
	struct ibv_mr *mrs[MRS];

	for (int i = 0; i < MRS; i++)
		mrs[i] = MADE(ibv_reg_mr(host->pd, host->buffer, RIG_BUFFER, 0));
	memcpy(unused, mrs, sizeof(unused));
	unused_count = MRS;
	alarm(30);
	for (int i = 0; i < 4; i++)
		must(ibv_create_cq(host->ctx, 4, NULL, NULL, 0) && rig_qp(host, IBV_QPT_RC, NULL));
	must(unused_count < MRS);
}
