/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program without XRC that creates and destroys QPs, and counts locks and allocations meanwhile.
 * usage: ordinary ROUNDS
 */

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long locks, allocations;
static unsigned counting;

#define EXPORTED __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);

EXPORTED void *malloc(size_t size)
{
	allocations += counting;
	return __libc_malloc(size);
}

EXPORTED void *calloc(size_t count, size_t size)
{
	allocations += counting;
	return __libc_calloc(count, size);
}

#define COUNT_LOCKS(function, type) \
	EXPORTED int function(type *lock) \
	{ \
		static int (*real)(type *); \
 \
		if (!real) \
			real = (int (*)(type *))dlsym(RTLD_NEXT, #function); \
		locks += counting; \
		return real(lock); \
	}

COUNT_LOCKS(pthread_mutex_lock, pthread_mutex_t)
COUNT_LOCKS(pthread_rwlock_rdlock, pthread_rwlock_t)

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct ibv_context context;
	struct ibv_pd pd = { .context = &context };
	long rounds = argc == 2 ? atol(argv[1]) : 0;

	ibv_destroy_qp(ibv_create_qp(&pd, &attr));	/* the first call looks for libibverbs */
	counting = 1;
	while (rounds--)
		ibv_destroy_qp(ibv_create_qp(&pd, &attr));
	counting = 0;
	printf("%lu locks, %lu allocations\n", locks, allocations);
	return 0;
}
