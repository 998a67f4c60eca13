/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Keeps forks away from the moments in which a provider has locks. */

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "fork.h"
#include "modern.h"

/* A destroy may wait for an acknowledgement that the forking thread owes. Then the fork goes on after this. */
#define PATIENCE_S 1

/* The fork is preferred: with the default kind, threads that create and destroy objects starve it. */
static pthread_rwlock_t objects = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

/* In between, the program's own fork handlers may call verbs: the forking thread needs no lock then. */
static __thread bool forking __attribute__((tls_model("initial-exec")));	/* as in shim/rdmacm.c */
static __thread bool held __attribute__((tls_model("initial-exec")));

void fork_hold_off(void)
{
	if (!forking)
		pthread_rwlock_rdlock(&objects);
}

void fork_let_go(void)
{
	if (!forking)
		pthread_rwlock_unlock(&objects);
}

void modern_forking(bool wait)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	held = wait && !pthread_rwlock_timedwrlock(&objects, &until);
	forking = true;
}

void modern_forked(bool child)
{
	static const pthread_rwlock_t unlocked = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

	forking = false;
	if (child)
		objects = unlocked;
	else if (held)
		pthread_rwlock_unlock(&objects);
}
