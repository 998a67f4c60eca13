/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Refused commands, a device that is gone, forks of a program whose threads call verbs, no free
 * descriptor, and little stack.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"
#include "receiver.h"
#include "../row.h"

/* ---- refused ---- */

ROW("an unreg that the kernel refuses returns its error, and the next one succeeds")
{
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	inject_command_fault(0, "DESTROY_QP", "EBUSY", 1);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), EBUSY);
	must_eq(query_receive_qp(end.domain, qp_num), 0);
	must_eq(ibv_reg_xrc_rcv_qp(end.domain, qp_num), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), EINVAL);
	end_close(&end);
}

/*
 * No registration is left after a close in which every command failed. (A sanitizer also sees
 * whether memory leaks.)
 */
ROW("closing a device that has gone leaves no registration")
{
	int fd = shared_file();
	uint32_t qp_num[3];
	struct end end;

	end_open(&end, 0, fd, false);
	for (int i = 0; i < 3; i++)
		qp_num[i] = receive_qp(end.domain);
	inject_command_fault(0, "any", "EIO", 1000);
	ibv_close_device(end.context);
	clear_command_faults(0);
	free(end.memory);
	end_open(&end, 0, fd, false);
	for (int i = 0; i < 3; i++) {
		must_eq(ibv_reg_xrc_rcv_qp(end.domain, qp_num[i]), EINVAL);
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num[i]), EINVAL);
	}
	end_close(&end);
}

/* ---- forks while other threads are in verbs ---- */

struct busy {
	struct end *end;
	uint32_t others;
	volatile int stop;
};

static void *query_for_ever(void *arg)
{
	struct busy *busy = arg;

	while (!busy->stop)
		must_eq(query_receive_qp(busy->end->domain, busy->others), 0);
	return NULL;
}

static void *register_for_ever(void *arg)
{
	struct busy *busy = arg;

	while (!busy->stop) {
		must_eq(ibv_reg_xrc_rcv_qp(busy->end->domain, busy->others), 0);
		must_eq(ibv_unreg_xrc_rcv_qp(busy->end->domain, busy->others), 0);
	}
	return NULL;
}

static void *create_for_ever(void *arg)
{
	struct busy *busy = arg;

	while (!busy->stop)
		must_eq(ibv_unreg_xrc_rcv_qp(busy->end->domain, receive_qp(busy->end->domain)), 0);
	return NULL;
}

/* The results do not matter, but every call must return. */
static void child(struct busy *busy, uint32_t own)
{
	alarm(60);
	ibv_reg_xrc_rcv_qp(busy->end->domain, busy->others);
	ibv_unreg_xrc_rcv_qp(busy->end->domain, busy->others);
	ibv_unreg_xrc_rcv_qp(busy->end->domain, own);
	ibv_destroy_srq(busy->end->srq);
	ibv_close_xrc_domain(busy->end->domain);
	ibv_close_device(busy->end->context);
	_exit(0);
}

ROW("every verb returns in a child forked while threads are in verbs")
{
	void *(*const work[])(void *) = { query_for_ever, register_for_ever, create_for_ever };
	int fd = shared_file(), status;
	struct busy busy = { 0 };
	struct end maker, end;
	pthread_t threads[3];
	uint32_t own;

	end_open(&maker, 0, fd, false);
	end_open(&end, 0, fd, false);
	busy = (struct busy){ .end = &end, .others = receive_qp(maker.domain) };
	own = receive_qp(end.domain);
	for (int i = 0; i < 3; i++)
		must(!pthread_create(&threads[i], NULL, work[i], &busy));
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();

		must(pid >= 0);
		if (!pid)
			child(&busy, own);
		must(waitpid(pid, &status, 0) == pid);
		must_eq(status, 0);
	}
	busy.stop = 1;
	for (int i = 0; i < 3; i++)
		must(!pthread_join(threads[i], NULL));
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, own), 0);
	end_close(&end);
	must_eq(ibv_unreg_xrc_rcv_qp(maker.domain, busy.others), 0);
	end_close(&maker);
}

/* ---- a signal whose handler forks, while a verb is under way ---- */

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
	pid_t pid = fork();
	int status;

	(void)number;
	if (!pid)
		_exit(0);
	must(waitpid(pid, &status, 0) == pid);
	must_eq(status, 0);
	signals++;
}

ROW("a signal handler forks at each command that the program writes to the kernel")
{
	struct end end;
	uint32_t qp_num;

	signal(SIGUSR1, fork_in_handler);
	raising = 1;
	must_eq(ibv_fork_init(), 0);
	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	end_create_qp(&end, 4);
	connect_to_itself(&end, qp_num);
	receive_through(&end, qp_num);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
	raising = 0;
	must(signals > 20);
}

/* ---- pthread_atfork() handlers, which may call verbs ---- */

static struct end forking;
static int handled;	/* 1 + the handlers that ran; while it is 0, handlers do nothing */

static void in_parent(void)
{
	if (!handled)
		return;
	must_eq(ibv_unreg_xrc_rcv_qp(forking.domain, receive_qp(forking.domain)), 0);
	end_create_qp(&forking, 4);
	must_eq(ibv_destroy_qp(forking.qp), 0);
	handled++;
}

/* The kernel may refuse every command on the parent's device. */
static void in_child(void)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = forking.domain };
	uint32_t qp_num;

	ibv_create_xrc_rcv_qp(&init_attr, &qp_num);
	ibv_reg_xrc_rcv_qp(forking.domain, 0x1234);
}

static void handle_forks(void)
{
	must(!pthread_atfork(in_parent, in_parent, in_child));
}

/*
 * Before the library's constructor. So this prepare handler runs after the library's, and these
 * parent and child handlers run before the library's.
 */
__attribute__((section(".preinit_array"), used)) static void (*const handle_early)(void) =
	handle_forks;

static void fork_and_wait(int times)
{
	int status;
	pid_t pid;

	while (times-- > 0) {
		pid = fork();
		if (!pid)
			_exit(0);
		must(waitpid(pid, &status, 0) == pid);
		must_eq(status, 0);
	}
}

ROW("handlers of pthread_atfork() call verbs")
{
	handle_forks();	/* once more, after the library's */
	end_open(&forking, 0, shared_file(), false);
	handled = 1;
	fork_and_wait(3);
	must_eq(handled, 13);
	forking.qp = NULL;
	end_close(&forking);
}

static pthread_mutex_t of_program = PTHREAD_MUTEX_INITIALIZER;

static void lock_program(void)
{
	pthread_mutex_lock(&of_program);
}

static void unlock_program(void)
{
	pthread_mutex_unlock(&of_program);
}

static void *create_locked_for_ever(void *arg)
{
	struct busy *busy = arg;

	while (!busy->stop) {
		lock_program();
		must_eq(ibv_unreg_xrc_rcv_qp(busy->end->domain, receive_qp(busy->end->domain)), 0);
		unlock_program();
		usleep(50);	/* or the forking thread would hardly get the lock */
	}
	return NULL;
}

ROW("a fork handler takes a lock that a thread holds around verbs")
{
	struct busy busy = { 0 };
	struct end end;
	pthread_t thread;

	must(!pthread_atfork(lock_program, unlock_program, unlock_program));
	end_open(&end, 0, -1, false);
	busy.end = &end;
	must(!pthread_create(&thread, NULL, create_locked_for_ever, &busy));
	fork_and_wait(300);
	busy.stop = 1;
	must(!pthread_join(thread, NULL));
	end_close(&end);
}

/* ---- a program that sets its limit of files to 0 ---- */

static void *next_event(void *arg)
{
	struct ibv_async_event event;
	struct end *end = arg;

	must_eq(ibv_get_async_event(end->context, &event), 0);
	must_eq(event.event_type, IBV_EVENT_COMM_EST | IBV_XRC_QP_EVENT_FLAG);
	ibv_ack_async_event(&event);
	return NULL;
}

ROW("a program without a free descriptor gets its events")
{
	struct rlimit limit;
	pthread_t reader;
	uint32_t qp_num;
	struct end end;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	end_create_qp(&end, 4);
	connect_to_itself(&end, qp_num);
	end_post_recv(&end, 1, 4096, 64);
	must(!getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 0;
	must(!setrlimit(RLIMIT_NOFILE, &limit));
	must(!pthread_create(&reader, NULL, next_event, &end));
	end_send(&end, IBV_WR_SEND, 0, 8);
	must(!pthread_join(reader, NULL));
	limit.rlim_cur = limit.rlim_max;
	must(!setrlimit(RLIMIT_NOFILE, &limit));
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}

/* ---- little stack ---- */

#define STACK_LIMIT 8192	/* bytes below the thread's function */
#define PAINT 0x5a

static void *create_on_painted_stack(void *arg)
{
	struct end *end = arg;
	unsigned char *below = (unsigned char *)__builtin_frame_address(0) - 65536;
	size_t clean = 0;

	memset(below, PAINT, 65536 - 4096);
	must_eq(ibv_unreg_xrc_rcv_qp(end->domain, receive_qp(end->domain)), 0);
	while (clean < 65536 && below[clean] == PAINT)
		clean++;
	must(65536 - clean <= STACK_LIMIT);
	return NULL;
}

/* Old event and connection threads have stacks of 16 KiB. */
ROW("creating the first receive QP uses at most 8 KiB of stack")
{
	pthread_t thread;
	struct end end;

	end_open(&end, 0, shared_file(), false);
	must(!pthread_create(&thread, NULL, create_on_painted_stack, &end));
	must(!pthread_join(thread, NULL));
	end_close(&end);
}
