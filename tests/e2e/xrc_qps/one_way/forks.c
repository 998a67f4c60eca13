/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Forks: with handlers that call verbs, while a thread is in a verb, and by signal handlers. */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "receiver.h"

static void fork_and_wait(int times)
{
	while (times-- > 0) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		must_end(pid, 0);
	}
}

/* ---- pthread_atfork() handlers, which may call verbs ---- */

static int handled;	/* 1 + the handlers that ran; while it is 0, handlers do nothing */

static void in_parent(void)
{
	if (!handled)
		return;
	end_receive_qp(self.domain, receive_qp(self.domain));
	side_create_qp(&self, 4);
	side_destroy_qp(&self);
	handled++;
}

/* The kernel may refuse every command on the parent's device. */
static void in_child(void)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = self.domain };
	uint32_t qp_num;

	if (!handled)
		return;
	ibv_create_xrc_rcv_qp(&init_attr, &qp_num);
	ibv_reg_xrc_rcv_qp(self.domain, 0x1234);
}

static void handle_forks(void)
{
	must(!pthread_atfork(in_parent, in_parent, in_child));
}

static bool locking;	/* while it is false, the handlers below do nothing */
static pthread_mutex_t of_program = PTHREAD_MUTEX_INITIALIZER;

static void lock_program(void)
{
	if (locking)
		pthread_mutex_lock(&of_program);
}

static void unlock_program(void)
{
	if (locking)
		pthread_mutex_unlock(&of_program);
}

/*
 * This runs before the library's constructor, as the constructor of a library does with which the
 * program is linked.
 */
static void handle_early(void)
{
	handle_forks();
	must(!pthread_atfork(lock_program, unlock_program, unlock_program));
}

__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = handle_early;

ROW("handlers of pthread_atfork() can call verbs")
{
	handle_forks(); /* once more, after those that the library has on old kernels */
	handled = 1;
	fork_and_wait(3);
	must_eq(handled, 1 + 3 * 2 * 2); /* forks, calls in each, registrations */
	handled = 0;
}

/* ---- a lock of the program ---- */

static volatile int stop;

static void *create_locked_for_ever(void *unused)
{
	while (!stop) {
		pthread_mutex_lock(&of_program);
		end_receive_qp(self.domain, receive_qp(self.domain));
		pthread_mutex_unlock(&of_program);
		usleep(50);	/* or the forking thread would hardly get the lock */
	}
	return unused;
}

ROW("a fork handler gets a lock that another thread holds around verbs")
{
	pthread_t thread = start_thread(create_locked_for_ever, NULL);

	locking = true;
	fork_and_wait(300);
	locking = false;
	stop = 1;
	join_thread(thread);
}

/* ---- a domain that another thread closes ---- */

static struct ibv_xrc_domain *closing;

static void *open_and_close(void *unused)
{
	while (!stop) {
		struct ibv_xrc_domain *domain = ibv_open_xrc_domain(self.context, -1, 0);

		must(domain);
		__atomic_store_n(&closing, domain, __ATOMIC_RELAXED);
		must_eq(ibv_close_xrc_domain(domain), 0);
	}
	return unused;
}

/*
 * The domain is its parent's, or stale. The library refuses both, and does not wait for a lock that
 * the other thread held at the fork.
 */
static void use_in_a_child(void)
{
	struct ibv_xrc_domain *domain = __atomic_load_n(&closing, __ATOMIC_RELAXED);
	pid_t pid = fork();

	if (!pid) {
		alarm(30);
		must_eq(ibv_reg_xrc_rcv_qp(domain, rcv_qp_num), EINVAL);
		_exit(0);
	}
	must_end(pid, 0);
}

ROW("a child's use of a domain that another thread was closing fails and does not hang")
{
	pthread_t thread = start_thread(open_and_close, NULL);

	for (int i = 0; i < 200; i++)
		use_in_a_child();
	stop = 1;
	join_thread(thread);
}

/* ---- the loader's lock ---- */

typedef int (*visit_fn)(struct dl_phdr_info *info, size_t size, void *arg);

static int asked;

/* The library calls this one. The C library's holds the loader's lock while it visits objects. */
__attribute__((visibility("default"))) int dl_iterate_phdr(visit_fn visit, void *arg)
{
	static int (*next)(visit_fn visit, void *arg);

	if (!next)
		next = (int (*)(visit_fn, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
	asked++;
	return next(visit, arg);
}

/*
 * The child of a fork meanwhile would never get that lock, nor would other threads if a signal
 * handler left the verb.
 */
ROW("no verb after the first domain asks the loader")
{
	must(asked);
	asked = 0;
	send_through_new_qp(rcv_qp_num);
	end_receive_qp(self.domain, receive_qp(self.domain));
	side_destroy_qp(&self);
	must_eq(asked, 0);
}

/* ---- a signal handler; the row begins with the first call of its process ---- */

#undef ROW_BEFORE
#undef ROW_AFTER
#define ROW_BEFORE NULL
#define ROW_AFTER NULL

static volatile sig_atomic_t raising; /* raise the signal at each write() */
static int signals;

/*
 * The loader finds the program's write() before the C library's, so libibverbs and its drivers call
 * this one.
 */
__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t size)
{
	static ssize_t (*next)(int fd, const void *bytes, size_t size);

	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "write");
	if (raising) {
		raising = 0;
		raise(SIGUSR1);
		raising = 1;
	}
	return next(fd, bytes, size);
}

/* Crash handlers fork to start a debugger. */
static void fork_in_handler(int number)
{
	(void)number;
	fork_and_wait(1);
	signals++;
}

ROW("a signal handler can fork at each command that a verb writes to the kernel")
{
	signal(SIGUSR1, fork_in_handler);
	raising = 1;
	must_eq(ibv_fork_init(), 0);
	open_receiver();
	send_through_new_qp(rcv_qp_num);
	close_receiver();
	raising = 0;
	must(signals > 20);
}
