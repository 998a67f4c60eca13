/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program with an allocator of its own, which has one lock and takes it in a fork handler, as
 * jemalloc and tcmalloc do. It can give out memory from pages that only the library uses.
 */

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "receiver.h"

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

#define AREA 65536

static char area[AREA] __attribute__((aligned(4096)));
static size_t area_used;
static bool use_area;	/* memory comes from the area, and is not freed */

static void *area_alloc(size_t size)
{
	void *memory = area + area_used;

	area_used += (size + 15) / 16 * 16;
	must(area_used <= AREA);
	return memory;
}

static bool is_in_area(const char *memory)
{
	return memory >= area && memory < area + AREA;
}

EXPORTED void *malloc(size_t size)
{
	take();
	return give_with(use_area ? area_alloc(size) : __libc_malloc(size));
}

EXPORTED void *calloc(size_t count, size_t size)
{
	take();
	return give_with(use_area ? area_alloc(count * size) : __libc_calloc(count, size));
}

EXPORTED void *realloc(void *memory, size_t size)
{
	take();
	return give_with(__libc_realloc(memory, size));
}

EXPORTED void free(void *memory)
{
	take();
	if (!is_in_area(memory))
		__libc_free(memory);
	give();
}

/* This runs after the library's constructor, since the program's come last. */
__attribute__((constructor)) static void handle_forks(void)
{
	pthread_atfork(take, give, give);
}

static struct side other;	/* has the domain of self */
static volatile int stop;

static void *create_for_ever(void *unused)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };

	while (!stop) {
		end_receive_qp(self.domain, receive_qp(self.domain));
		must_eq(ibv_destroy_srq(ibv_create_xrc_srq(self.pd, self.domain, self.cq, &attr)),
			0);
	}
	return unused;
}

static void *register_for_ever(void *unused)
{
	while (!stop) {
		must_eq(ibv_reg_xrc_rcv_qp(other.domain, rcv_qp_num), 0);
		must_eq(query_receive_qp(other.domain, rcv_qp_num), 0);
		end_receive_qp(other.domain, rcv_qp_num);
	}
	return unused;
}

/* The child has none of its parent's objects, so the calls may fail. Each of them must return. */
static void call_verbs(void)
{
	alarm(30);
	ibv_reg_xrc_rcv_qp(other.domain, rcv_qp_num);
	ibv_unreg_xrc_rcv_qp(other.domain, rcv_qp_num);
	ibv_unreg_xrc_rcv_qp(self.domain, rcv_qp_num);
	ibv_destroy_srq(other.srq);
	ibv_close_xrc_domain(other.domain);
	ibv_close_device(other.context);
	_exit(0);
}

ROW("reg, unreg, destroy and close return in a child forked while threads are in verbs")
{
	pthread_t threads[4];

	side_open(&other, 0, domain_fd, false);
	for (int i = 0; i < 4; i++)
		threads[i] = start_thread(i ? create_for_ever : register_for_ever, NULL);
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (!pid)
			call_verbs();
		must_end(pid, 0);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		join_thread(threads[i]);
	side_close(&other);
}

#undef ROW_BEFORE
#define ROW_BEFORE NULL	/* ibv_fork_init() comes before the first registration of memory */

/* Open MPI and HP-MPI call it. A child then lacks each page that has registered memory. */
ROW("after ibv_fork_init() a child is forked that lacks the library's objects")
{
	struct ibv_mr *mr;
	pid_t pid;

	must_eq(ibv_fork_init(), 0);
	open_receiver();
	use_area = true;
	side_create_qp(&self, 4);
	use_area = false;
	mr = ibv_reg_mr(self.pd, area, AREA, IBV_ACCESS_LOCAL_WRITE);
	must(mr && area_used);
	pid = fork();
	if (!pid)
		_exit(0);
	must_end(pid, 0);
	must_eq(ibv_dereg_mr(mr), 0);
}
