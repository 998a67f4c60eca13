/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program without XRC that creates and destroys QPs, and counts locks and allocations meanwhile.
 * At first it counts each kind of lock once, and what the first verb allocates. usage: ordinary
 * ROUNDS
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
extern void *__libc_realloc(void *memory, size_t size);

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

EXPORTED void *realloc(void *memory, size_t size)
{
	allocations += counting;
	return __libc_realloc(memory, size);
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
COUNT_LOCKS(pthread_mutex_trylock, pthread_mutex_t)
COUNT_LOCKS(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNT_LOCKS(pthread_rwlock_wrlock, pthread_rwlock_t)

/* As a library finds its function. */
static void take(const char *function, void *lock)
{
	((int (*)(void *))dlsym(RTLD_DEFAULT, function))(lock);
}

static void take_each_lock(void)
{
	pthread_mutex_t locked = PTHREAD_MUTEX_INITIALIZER, tried = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t read = PTHREAD_RWLOCK_INITIALIZER, written = PTHREAD_RWLOCK_INITIALIZER;

	take("pthread_mutex_lock", &locked);
	take("pthread_mutex_trylock", &tried);
	take("pthread_rwlock_rdlock", &read);
	take("pthread_rwlock_wrlock", &written);
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct ibv_context context;
	struct ibv_pd pd = { .context = &context };
	long rounds = argc == 2 ? atol(argv[1]) : 0;

	counting = 1;
	take_each_lock();
	ibv_destroy_qp(ibv_create_qp(&pd, &attr));	/* the first call looks for libibverbs */
	counting = 0;
	printf("at first %lu locks, %lu allocations\n", locks, allocations);
	locks = allocations = 0;
	counting = 1;
	while (rounds--)
		ibv_destroy_qp(ibv_create_qp(&pd, &attr));
	counting = 0;
	printf("%lu locks, %lu allocations\n", locks, allocations);
	return 0;
}
