/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The one lock of the library, and what a fork does with it. */
#include "state.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/*
 * The forking thread has the lock during the fork, or forks without it (state_forking()). Handlers
 * of the program run in that time, too. The verbs that they call must not take the lock.
 */
static __thread bool forking __attribute__((tls_model("initial-exec")));
static __thread bool took_lock __attribute__((tls_model("initial-exec")));

/* The first thread of a child that takes the lock calls this once. */
static void (*after_fork)(void);

/* nanosleep(2) is a cancellation point. fork() must not end there: it has locks of its own. */
static void pause_a_millisecond(void)
{
	const struct timespec millisecond = { .tv_nsec = 1000000 };
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	nanosleep(&millisecond, NULL);
	pthread_setcancelstate(cancel_state, NULL);
}

/*
 * Waits for the lock for a second. It counts milliseconds: pthread_mutex_timedlock() measures by
 * the system's time, which may be set back, and glibc before 2.30 has no pthread_mutex_clocklock().
 * False: it did not get the lock.
 */
static bool lock_in_time(void)
{
	for (int tries = 0; tries < 1000; tries++) {
		if (!pthread_mutex_trylock(&lock))
			return true;
		pause_a_millisecond();
	}
	return false;
}

/*
 * Take the lock, so that the child finds every map complete. A thread holds it for less than a
 * second, with these exceptions. In each of them the fork goes on without the lock.
 * - A signal handler forks while its own thread has the lock. Such a child usually calls exec.
 * - A fork handler of the program has locked its allocator, and the owner of our lock waits for the
 *   allocator. A map is complete while its owner allocates.
 * - Another thread forks a process so large that it takes longer. It changes no map.
 */
void state_forking(void)
{
	took_lock = lock_in_time();
	forking = true;
}

void state_forked_parent(void)
{
	forking = false;
	if (took_lock)
		pthread_mutex_unlock(&lock);
}

void state_forked_child(void (*clean_up)(void))
{
	forking = false;
	if (took_lock)
		pthread_mutex_unlock(&lock);	/* for ThreadSanitizer, which keeps account */
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&changed, NULL);
	after_fork = clean_up;
}

void state_lock(void)
{
	void (*clean_up)(void);

	if (forking)
		return;
	pthread_mutex_lock(&lock);
	clean_up = after_fork;
	after_fork = NULL;
	if (clean_up)
		clean_up();
}

void state_unlock(void)
{
	if (forking)
		return;
	pthread_mutex_unlock(&lock);
}

void state_wait(void)
{
	pthread_cond_wait(&changed, &lock);
}

void state_changed(void)
{
	pthread_cond_broadcast(&changed);
}
