/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Forks: with handlers that call verbs, while a thread is in a verb, and by signal handlers. */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <harness/thread_state.h>
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
	must_eq(ibv_unreg_xrc_rcv_qp(self.domain, receive_qp(self.domain)), 0);
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

/*
 * This runs before the library's constructor. So this prepare handler runs after the library's, and
 * these parent and child handlers run before the library's.
 */
__attribute__((section(".preinit_array"), used)) static void (*const handle_early)(void) =
	handle_forks;

ROW("handlers of pthread_atfork() can call verbs")
{
	handle_forks();	/* once more, after the library's */
	handled = 1;
	fork_and_wait(3);
	must_eq(handled, 13);
	handled = 0;
}

/* ---- a lock of the program ---- */

static volatile int stop;
static pthread_mutex_t of_program = PTHREAD_MUTEX_INITIALIZER;

static void lock_program(void)
{
	pthread_mutex_lock(&of_program);
}

static void unlock_program(void)
{
	pthread_mutex_unlock(&of_program);
}

static void *create_locked_for_ever(void *unused)
{
	while (!stop) {
		lock_program();
		must_eq(ibv_unreg_xrc_rcv_qp(self.domain, receive_qp(self.domain)), 0);
		unlock_program();
		usleep(50);	/* or the forking thread would hardly get the lock */
	}
	return unused;
}

ROW("a fork handler gets a lock that another thread holds around verbs")
{
	pthread_t thread;

	must(!pthread_atfork(lock_program, unlock_program, unlock_program));
	thread = start_thread(create_locked_for_ever, NULL);
	fork_and_wait(300);
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

/* The kernel refuses the child's command on its parent's device, or the library the domain. */
static void use_in_a_child(void)
{
	struct ibv_xrc_domain *domain = __atomic_load_n(&closing, __ATOMIC_RELAXED);
	pid_t pid = fork();

	if (!pid) {
		alarm(30);
		_exit(!ibv_reg_xrc_rcv_qp(domain, rcv_qp_num));
	}
	must_end(pid, 0);
}

ROW("a child can use a domain that another thread was closing during the fork")
{
	pthread_t thread = start_thread(open_and_close, NULL);

	for (int i = 0; i < 200; i++)
		use_in_a_child();
	stop = 1;
	join_thread(thread);
}

/* ---- the loader's lock ---- */

typedef int (*visit_fn)(struct dl_phdr_info *info, size_t size, void *arg);

static __thread bool hold;	/* in the next call of this thread */
static volatile bool held, forking;

static int hold_until_main_waits(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info, (void)size, (void)unused;
	held = true;
	while (!forking || thread_state(getpid()) != 'S')
		usleep(500);
	return 1;
}

/* The library calls this one. The C library's holds the loader's lock while it visits objects. */
__attribute__((visibility("default"))) int dl_iterate_phdr(visit_fn visit, void *arg)
{
	static int (*next)(visit_fn visit, void *arg);

	if (!next)
		next = (int (*)(visit_fn, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
	if (hold) {
		hold = false;
		next(hold_until_main_waits, NULL);
	}
	return next(visit, arg);
}

static int visit_one(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info, (void)size, (void)unused;
	return 1;
}

static void *create_xrc_qp(void *unused)
{
	hold = true;
	side_create_qp(&self, 4);
	return unused;
}

ROW("a child can ask the loader if another thread was creating an XRC QP during the fork")
{
	pthread_t thread = start_thread(create_xrc_qp, NULL);
	pid_t pid;

	while (!held)	/* the row's time limit ends this */
		usleep(500);
	forking = true;
	pid = fork();
	if (!pid) {
		alarm(10);
		/* At _exit() ThreadSanitizer reports the thread that a child lacks as leaked. */
		if (dl_iterate_phdr(visit_one, NULL) == 1)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	must_end(pid, SIGKILL);
	join_thread(thread);
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
		next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
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
	side_create_qp(&self, 4);
	connect_to_itself(&self, rcv_qp_num);
	receive_through(&self, rcv_qp_num);
	close_receiver();
	raising = 0;
	must(signals > 20);
}
