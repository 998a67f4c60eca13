/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program without XRC whose threads leave ibv_get_async_event at any instruction. With argument
 * "jump" a signal handler jumps out of it, with "cancel" the thread is cancelled, with "first" a
 * handler jumps out of the first verb of a process. After each time another thread loads a library,
 * which takes the loader's lock.
 */

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 300
#define SECONDS 60

static struct ibv_context context;
static sigjmp_buf out;
static volatile sig_atomic_t may_jump;
static int left, ended;

static void spin(void)
{
	static unsigned seed = 1;

	for (volatile int i = rand_r(&seed) % 3000; i > 0; i--)
		;
}

static bool load_library(void)
{
	void *library = dlopen("libm.so.6", RTLD_LAZY);

	return library && !dlclose(library);
}

static bool poll_once(void)
{
	struct ibv_async_event event;

	return !ibv_get_async_event(&context, &event);
}

static void *call(void *function)
{
	return ((bool (*)(void))function)() ? "" : NULL;
}

static bool in_another_thread(bool (*function)(void))
{
	pthread_t thread;
	void *result;

	return !pthread_create(&thread, NULL, call, (void *)function) &&
	       !pthread_join(thread, &result) && result;
}

static void jump(int number)
{
	(void)number;
	if (may_jump)
		siglongjmp(out, 1);
}

static void poll_events(void)
{
	struct ibv_async_event event;

	for (;;)
		ibv_get_async_event(&context, &event);
}

static void *poll_until_a_jump(void *unused)
{
	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) {
		if (!sigsetjmp(out, 1)) {
			may_jump = 1;
			poll_events();
		}
		may_jump = 0;
		__atomic_add_fetch(&left, 1, __ATOMIC_RELEASE);
	}
	return unused;
}

static bool leave_by_jumps(void)
{
	pthread_t thread;

	signal(SIGUSR1, jump);
	if (pthread_create(&thread, NULL, poll_until_a_jump, NULL))
		return false;
	for (int done = 0; done < ROUNDS; done++) {
		while (__atomic_load_n(&left, __ATOMIC_ACQUIRE) <= done) {
			spin();
			pthread_kill(thread, SIGUSR1);
		}
		if (!load_library())
			return false;
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	while (pthread_tryjoin_np(thread, NULL))
		pthread_kill(thread, SIGUSR1);
	return true;
}

static void *poll_until_cancelled(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	poll_events();
	return unused;
}

static bool leave_by_cancellation(void)
{
	pthread_t thread;

	for (int done = 0; done < ROUNDS; done++) {
		if (pthread_create(&thread, NULL, poll_until_cancelled, NULL))
			return false;
		spin();
		if (pthread_cancel(thread) || pthread_join(thread, NULL) || !load_library())
			return false;
	}
	return true;
}

/* In a child whose first verb is still to come. */
static int leave_first_verb(void)
{
	struct itimerval timer = { .it_value.tv_usec = 0 };
	static unsigned seed;

	seed = (unsigned)getpid();
	timer.it_value.tv_usec = 1 + rand_r(&seed) % 300;
	signal(SIGALRM, jump);
	if (!sigsetjmp(out, 1)) {
		may_jump = 1;
		setitimer(ITIMER_REAL, &timer, NULL);
		poll_events();
	}
	signal(SIGALRM, SIG_DFL);
	alarm(10);
	return in_another_thread(load_library) && in_another_thread(poll_once) ? 0 : 1;
}

static bool leave_first_verbs(void)
{
	for (int done = 0; done < ROUNDS; done++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid)
			_exit(leave_first_verb());
		if (waitpid(pid, &status, 0) != pid || status)
			return false;
	}
	return true;
}

static bool leave_verbs(const char *way)
{
	if (!strcmp(way, "first"))
		return leave_first_verbs();
	return poll_once() && (strcmp(way, "jump") ? leave_by_cancellation() : leave_by_jumps());
}

int main(int argc, char **argv)
{
	alarm(SECONDS);
	if (argc != 2 || !leave_verbs(argv[1]))
		return 1;
	puts("no lock left");
	return 0;
}
