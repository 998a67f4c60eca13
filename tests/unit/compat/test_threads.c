/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads of a program use the same domains, and a child forked inside a verb uses the library. Run
 * this with ThreadSanitizer (-Db_sanitize=thread), too.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <base/cancel.h>
#include <base/state.h>
#include <compat/device.h>
#include <compat/domain.h>
#include <compat/rcv_qp.h>

#include <harness/thread_state.h>
#include "../common/provider.h"
#include "../common/child.h"
#include <harness/unit.h>

#define THREADS 6
#define ROUNDS 100

#define SIGCANCEL 32	/* pthread_cancel() sends it */

struct shared {
	struct legacy_xrc_domain *domains[2];	/* of two opened devices */
	int errors;
};

static void *work(void *argument)
{
	struct shared *shared = argument;
	uint32_t number;

	for (int i = 0; i < ROUNDS; i++) {
		int errors = !!rcv_qp_create(shared->domains[i % 2], &number);

		errors += !!rcv_qp_register(shared->domains[!(i % 2)], number);
		errors += !!rcv_qp_unregister(shared->domains[i % 2], number);
		errors += !!rcv_qp_unregister(shared->domains[!(i % 2)], number);
		__atomic_add_fetch(&shared->errors, errors, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST(threads_share_two_domains)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct shared shared = { .errors = 0 };
	pthread_t threads[THREADS];

	for (unsigned n = 0; n < 2; n++)
		assert_int_equal(domain_open(provider_open(n), fd, O_CREAT, &shared.domains[n]), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &shared), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(shared.errors, 0);
	for (unsigned n = 0; n < 2; n++)
		assert_int_equal(domain_close(shared.domains[n]), 0);
	close(fd);
}

static struct legacy_xrc_domain *last_opened;
static int opening;	/* threads */

/* malloc() gives a thread the memory that it has freed last. */
static void *open_and_close(void *context)
{
	struct legacy_xrc_domain *opened;

	for (int i = 0; i < 30 * ROUNDS; i++) {
		assert_int_equal(domain_open(context, -1, 0, &opened), 0);
		__atomic_store_n(&last_opened, opened, __ATOMIC_RELAXED);
		domain_close(opened);
	}
	__atomic_sub_fetch(&opening, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *close_stale(void *unused)
{
	while (__atomic_load_n(&opening, __ATOMIC_RELAXED))
		domain_close(__atomic_load_n(&last_opened, __ATOMIC_RELAXED));
	return unused;
}

/* A new domain may have the address of a closed one, and be closed before its open returns. */
TEST(threads_close_stale_domains)
{
	struct ibv_context *context = provider_open(0);
	pthread_t threads[4];

	opening = 2;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						i % 2 ? close_stale : open_and_close, context),
				 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(device_close(context), 0);
}

/* In the child: 0 if it can lock, and knows no object of its parent but makes its own. */
static int begin_as_a_child(struct legacy_xrc_domain *of_parent)
{
	struct legacy_xrc_domain *domain;
	uint32_t number;

	alarm(20);
	if (rcv_qp_create(of_parent, &number) != -EINVAL ||
	    domain_close(of_parent) != -EINVAL)
		return 1;
	if (domain_open(of_parent->context, -1, 0, &domain) || rcv_qp_create(domain, &number))
		return 2;
	return rcv_qp_unregister(domain, number) || domain_close(domain) ? 3 : 0;
}

static atomic_int held;

static void *hold_lock(void *release)
{
	state_lock();
	held = 1;
	while (!*(atomic_int *)release)
		usleep(100);
	state_unlock();
	return NULL;
}

/* A thread of the parent has the lock, or the forking thread itself, in a signal handler. */
TEST(a_child_begins_with_locks_and_objects_of_its_own)
{
	struct legacy_xrc_domain *domain;
	atomic_int release = 0;
	pthread_t thread;

	skip_by_qemu_user();
#ifdef __SANITIZE_THREAD__
	skip_because("ThreadSanitizer reports the thread that the child does not have as leaked");
#endif
	assert_int_equal(domain_open(provider_open(0), -1, 0, &domain), 0);
	state_lock();
	assert_int_equal(in_child(begin_as_a_child(domain)), 0);
	assert_int_equal(in_bare_child(begin_as_a_child(domain)), 0);
	state_unlock();
	assert_int_equal(pthread_create(&thread, NULL, hold_lock, &release), 0);
	while (!held)
		usleep(100);
	assert_int_equal(in_child(begin_as_a_child(domain)), 0);
	assert_int_equal(in_bare_child(begin_as_a_child(domain)), 0);
	release = 1;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(domain_close(domain), 0);
}

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
	poll(NULL, 0, 200);	/* a cancellation point */
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
	assert_int_equal(
		pthread_create(&thread, NULL, hold_while_the_signal_is_under_way, NULL), 0);
	while (!__atomic_load_n(&victim, __ATOMIC_RELAXED))
		usleep(100);
	assert_int_equal(pthread_cancel(thread), 0);
	__atomic_store_n(&cancelled, true, __ATOMIC_RELAXED);
	/* The thread sleeps in cancel_hold(), where it spins with glibc 2.31, or in the section. */
	for (int i = 0; i < 2000 && !__atomic_load_n(&finished, __ATOMIC_RELAXED) &&
			thread_state(victim) != 'S'; i++)
		usleep(100);
	pthread_kill(thread, SIGUSR1);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_true(finished);
}

UNIT_MAIN(NULL, NULL)
