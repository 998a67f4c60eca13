/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads that this library starts in the user's program. These threads block all signals and do
 * not keep the process alive.
 */
#ifndef SOFTHCA_CLIENT_OWN_THREAD_H
#define SOFTHCA_CLIENT_OWN_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* How often such a thread calls own_thread_is_alone(). */
#define OWN_THREAD_LOOK_MS 1000

/** own_thread_start - pthread_create(3) with all signals blocked. 0 or -errno. */
int own_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg),
		     void *arg);

/**
 * own_thread_begin - the thread's first call. It names the thread, and threads of this library know
 * each other by that name.
 */
void own_thread_begin(void);

/**
 * own_thread_is_alone - whether all threads of the program have ended. Then the calling thread must
 * end, too: with the last thread the C library ends the process.
 */
bool own_thread_is_alone(void);

#endif
