/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Sections of a verb that a cancelled thread finishes. */

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <base/cancel.h>

#include <harness/thread_state.h>
#include <harness/unit.h>

#define SIGCANCEL 32 /* pthread_cancel() sends it */

static pid_t victim;
static bool cancelled, finished;

/* Unblocks SIGCANCEL, which sigset functions of the C library do not touch. */
static void unblock(int number, siginfo_t *info, void *context)
{
	unsigned long *mask = (unsigned long *)&((ucontext_t *)context)->uc_sigmask;

	(void)number;
	(void)info;
	*mask &= ~(1UL << (SIGCANCEL - 1));
}

/* A cancelled function leaves its variables marked for AddressSanitizer. */
static __attribute__((no_sanitize_address)) void *hold_while_the_signal_is_under_way(void *unused)
{
	const uint64_t blocked = 1ULL << (SIGCANCEL - 1);
	struct cancel_hold hold;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, NULL, sizeof(blocked));
	__atomic_store_n(&victim, gettid(), __ATOMIC_RELAXED);
	while (!__atomic_load_n(&cancelled, __ATOMIC_RELAXED))
		;
	cancel_hold(&hold);
	poll(NULL, 0, 200); /* a cancellation point */
	__atomic_store_n(&finished, true, __ATOMIC_RELAXED);
	cancel_release(&hold);
	return unused;
}

/*
 * The cancelled thread blocks the signal of pthread_cancel(), as if the cancelling thread had lost
 * its processor just before it sent the signal.
 */
TEST(a_cancel_signal_that_is_late_does_not_end_a_section)
{
	const struct sigaction action = { .sa_sigaction = unblock, .sa_flags = SA_SIGINFO };
	pthread_t thread;
	void *result;

#ifdef __SANITIZE_THREAD__
	skip_because("ThreadSanitizer holds back signals");
#endif
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, hold_while_the_signal_is_under_way, NULL),
			 0);
	while (!__atomic_load_n(&victim, __ATOMIC_RELAXED))
		usleep(100);
	assert_int_equal(pthread_cancel(thread), 0);
	__atomic_store_n(&cancelled, true, __ATOMIC_RELAXED);
	/* The thread sleeps in cancel_hold(), which spins with glibc 2.31, or in the section. */
	for (int i = 0; i < 2000 && !__atomic_load_n(&finished, __ATOMIC_RELAXED) &&
			thread_state(victim) != 'S';
	     i++)
		usleep(100);
	pthread_kill(thread, SIGUSR1);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_true(finished);
}

UNIT_MAIN(NULL, NULL)
