/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program with an allocator of its own, which has one lock and takes it in a fork handler, as
 * jemalloc and tcmalloc do.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "receiver.h"

#define NO_QP 0xffffff	/* the threads never get this number */

#define EXPORTED __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

static void *give_with(void *memory)
{
	give();
	return memory;
}

EXPORTED void *malloc(size_t size)
{
	take();
	return give_with(__libc_malloc(size));
}

EXPORTED void *calloc(size_t count, size_t size)
{
	take();
	return give_with(__libc_calloc(count, size));
}

EXPORTED void *realloc(void *memory, size_t size)
{
	take();
	return give_with(__libc_realloc(memory, size));
}

EXPORTED void free(void *memory)
{
	take();
	__libc_free(memory);
	give();
}

/* After the library's constructor: the program's come last. */
__attribute__((constructor)) static void handle_forks(void)
{
	pthread_atfork(take, give, give);
}

static volatile int stop;

static void *create_for_ever(void *unused)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };

	while (!stop) {
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, receive_qp(end.domain)), 0);
		must_eq(ibv_destroy_srq(ibv_create_xrc_srq(end.pd, end.domain, end.cq, &attr)), 0);
	}
	return unused;
}

/* The child calls a verb: the library then frees what the other threads were creating. */
ROW("a child of a program whose allocator is locked at fork calls a verb")
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		must(!pthread_create(&threads[i], NULL, create_for_ever, NULL));
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();
		int status;

		must(pid >= 0);
		if (!pid) {
			alarm(30);
			_exit(ibv_unreg_xrc_rcv_qp(end.domain, NO_QP));
		}
		must(waitpid(pid, &status, 0) == pid);
		must(WIFEXITED(status));
		must_eq(WEXITSTATUS(status), EINVAL);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		must(!pthread_join(threads[i], NULL));
}
