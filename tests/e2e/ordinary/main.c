/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program without XRC that calls one verb in a loop, and counts locks and allocations meanwhile,
 * and the calls that reach libibverbs.c. At first it takes each kind of lock once and allocates
 * once, to show that it counts them. usage: ordinary [VERB ROUNDS]
 * Without arguments it prints the verbs.
 */

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern unsigned long ibv_fake_calls;
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

/* The C library's takes the loader's lock. */
EXPORTED int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

	if (!real)
		real = (int (*)(int (*)(struct dl_phdr_info *, size_t, void *), void *))dlsym(
			RTLD_NEXT, "dl_iterate_phdr");
	locks += counting;
	return real(visit, arg);
}

static int visit_none(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info;
	(void)size;
	(void)unused;
	return 1;
}

/* Finds the function as a library does, and calls it. */
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
	dl_iterate_phdr(visit_none, NULL);
}

static struct ibv_context context;
static struct ibv_qp *qp;
static struct ibv_srq *srq;

static void create_qp(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct ibv_pd pd = { .context = &context };

	qp = ibv_create_qp(&pd, &attr);
}

static void modify_qp(void)
{
	ibv_modify_qp(qp, NULL, 0);
}

static void query_qp(void)
{
	ibv_query_qp(qp, NULL, 0, NULL);
}

static void destroy_qp(void)
{
	ibv_destroy_qp(qp);
}

static void modify_srq(void)
{
	ibv_modify_srq(srq, NULL, 0);
}

static void query_srq(void)
{
	ibv_query_srq(srq, NULL);
}

static void destroy_srq(void)
{
	ibv_destroy_srq(srq);
}

static void get_async_event(void)
{
	struct ibv_async_event event;

	ibv_get_async_event(&context, &event);
}

static void ack_async_event(void)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ACTIVE };

	ibv_ack_async_event(&event);
}

static void close_device(void)
{
	ibv_close_device(&context);
}

static const struct {
	const char *name;
	void (*call)(void);
} verbs[] = {
	{ "create_qp", create_qp },
	{ "modify_qp", modify_qp },
	{ "query_qp", query_qp },
	{ "destroy_qp", destroy_qp },
	{ "modify_srq", modify_srq },
	{ "query_srq", query_srq },
	{ "destroy_srq", destroy_srq },
	{ "get_async_event", get_async_event },
	{ "ack_async_event", ack_async_event },
	{ "close_device", close_device },
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void report(const char *when)
{
	counting = 0;
	printf("%s%lu locks, %lu allocations\n", when, locks, allocations);
	locks = allocations = 0;
}

static void call_often(void (*call)(void), long rounds)
{
	create_qp(); /* the first verb begins the process */
	ibv_fake_calls = 0;
	counting = 1;
	while (rounds--)
		call();
	report("");
	printf("%lu calls passed on\n", ibv_fake_calls);
}

int main(int argc, char **argv)
{
	void *volatile allocated;	/* so that the compiler leaves the allocation there */

	if (argc != 3) {
		for (size_t i = 0; i < VERBS; i++)
			puts(verbs[i].name);
		return 0;
	}
	srq = calloc(1, sizeof(*srq));
	counting = 1;
	take_each_lock();
	allocated = malloc(1);
	free(allocated);
	report("at first ");
	for (size_t i = 0; i < VERBS; i++)
		if (!strcmp(argv[1], verbs[i].name))
			call_often(verbs[i].call, atol(argv[2]));
	return 0;
}
