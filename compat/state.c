/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The one lock of the library. */

#include <pthread.h>

#include "state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

atomic_bool state_used;

/*
 * From before a fork until after it the forking thread has the lock, or does without. Fork handlers of the program run in
 * between, and may call verbs: that thread needs, and gives back, no lock then.
 */
static __thread bool forking __attribute__((tls_model("initial-exec")));	/* as in shim/rdmacm.c */

void state_forking(bool take)
{
	if (take)
		pthread_mutex_lock(&lock);
	forking = true;
}

void state_forked(bool child, bool taken)
{
	forking = false;
	if (child) {
		pthread_mutex_init(&lock, NULL);
		pthread_cond_init(&changed, NULL);
	} else if (taken) {
		pthread_mutex_unlock(&lock);
	}
}

void state_lock(void)
{
	if (!forking)
		pthread_mutex_lock(&lock);
}

void state_unlock(void)
{
	if (!forking)
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
