/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads of a program use the same domains, and a child forked inside a verb uses the library. Run
 * this with ThreadSanitizer (-Db_sanitize=thread), too.
 */

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <compat/cancel.h>
#include <compat/device.h>
#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <compat/state.h>

#include <harness/thread_state.h>
#include "provider.h"
#include "regtab/regtab_fixture.h"

#define THREADS 6
#define ROUNDS 100

#define SIGCANCEL 32	/* pthread_cancel() sends it */

struct shared {
	struct legacy_xrc_domain *domains[2];	/* of two opened devices */
	int errors;
};

/* The domains have no QP yet, so the threads race to create the table's file. */
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

static int tries;	/* to get the library's lock before a fork */

int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	__atomic_add_fetch(&tries, 1, __ATOMIC_RELAXED);
	return __real_pthread_mutex_trylock(mutex);
}

static bool held, released;

/* Unlocks when the thread of main() sleeps in its try. */
static void *hold_until_a_fork_waits(void *unused)
{
	state_lock();
	__atomic_store_n(&held, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&tries, __ATOMIC_RELAXED) || thread_state(getpid()) != 'S')
		usleep(100);
	__atomic_store_n(&released, true, __ATOMIC_RELAXED);
	state_unlock();
	return unused;
}

/* The child sees the memory of the moment when fork() copied it. */
TEST(a_fork_waits_until_another_thread_unlocks)
{
	pthread_t thread;

#ifdef __SANITIZE_THREAD__
	skip_because("ThreadSanitizer reports the thread that the child does not have as leaked");
#endif
	tries = 0;
	assert_int_equal(pthread_create(&thread, NULL, hold_until_a_fork_waits, NULL), 0);
	while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
		usleep(100);
	assert_int_equal(in_child(!__atomic_load_n(&released, __ATOMIC_RELAXED)), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static bool hold_write, held_write, go_on;

ssize_t __real_pwrite64(int fd, const void *bytes, size_t size, off64_t at);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off64_t at);

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
	if (__atomic_exchange_n(&hold_write, false, __ATOMIC_RELAXED)) {
		__atomic_store_n(&held_write, true, __ATOMIC_RELAXED);
		while (!__atomic_load_n(&go_on, __ATOMIC_RELAXED))
			usleep(1000);
	}
	return __real_pwrite64(fd, bytes, size, at);
}

static void *register_0x900(void *domain)
{
	assert_int_equal(rcv_qp_register(domain, 0x900), 0);
	return NULL;
}

/* A table directory on another machine may answer late. */
TEST(a_slow_table_holds_up_no_other_thread_and_no_fork)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct legacy_xrc_domain *domain;
	pthread_t thread;

	assert_int_equal(domain_open(provider_open(0), fd, O_CREAT, &domain), 0);
	hold_write = true;
	assert_int_equal(pthread_create(&thread, NULL, register_0x900, domain), 0);
	while (!__atomic_load_n(&held_write, __ATOMIC_RELAXED))
		usleep(100);
	alarm(20);
	assert_int_equal(rcv_qp_register(domain, 0x901) | rcv_qp_register(domain, 0x902), 0);
	assert_int_equal(rcv_qp_unregister(domain, 0x902), 0);
	tries = 0;
	assert_int_equal(in_child(tries), 1 << 8);
	__atomic_store_n(&go_on, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	alarm(0);
	assert_int_equal(read_tables().qps, 2);
	assert_int_equal(rcv_qp_unregister(domain, 0x900) | rcv_qp_unregister(domain, 0x901), 0);
	assert_int_equal(domain_close(domain), 0);
	close(fd);
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

/* A provider's lock that another thread of the parent held is never released in the child. */
TEST(a_child_unregisters_without_the_provider)
{
	struct legacy_xrc_domain *domain;
	uint32_t number;

	assert_int_equal(domain_open(provider_open(0), -1, 0, &domain), 0);
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	provider_lock = true;
	assert_int_equal(in_child((alarm(30), rcv_qp_unregister(domain, number))), 0);
	provider_lock = false;
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(domain_close(domain), 0);
}

FIXTURE(setup)
{
	return setenv("XRC_COMPAT_TABLE_DIR", tables_dir(), 1);
}

UNIT_MAIN(setup, NULL)
