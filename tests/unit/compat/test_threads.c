/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads of a program use the same domains, and a child forked inside a verb uses the library. Run
 * this with ThreadSanitizer (-Db_sanitize=thread), too.
 */

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <compat/state.h>
#include <compat/device.h>
#include <compat/domain.h>
#include <compat/rcv_qp.h>

#include "provider.h"
#include "regtab/regtab_fixture.h"

#define THREADS 6
#define ROUNDS 100

struct shared {
	struct legacy_xrc_domain *domains[2];	/* of two opened devices */
	int errors;
};

/* Each thread begins with the domain's first QP, so they race to create the table file. */
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

/* A handler starts a debugger while the verb that it interrupted holds the library's lock. */
TEST(a_handler_forks_inside_the_lock)
{
	struct cancel_hold hold;

	struct timespec begin, now;
	double fastest = 30, seconds;

	device_use_begin();
	cancel_hold(&hold);
	state_lock();
	alarm(30);
	for (int i = 0; i < 3; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		assert_int_equal(in_child(0), 0);
		clock_gettime(CLOCK_MONOTONIC, &now);
		seconds = (double)(now.tv_sec - begin.tv_sec) +
			  (double)(now.tv_nsec - begin.tv_nsec) / 1e9;
		fastest = seconds < fastest ? seconds : fastest;
	}
	alarm(0);
	assert_true(fastest < 0.9);	/* the fork does not wait for the lock */
	state_unlock();
	cancel_release(&hold);
}

/* A provider's lock that another thread of the parent held is never released in the child. */
TEST(a_child_unregisters_without_the_provider)
{
	struct legacy_xrc_domain *domain;
	uint32_t number;

	device_use_begin();
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
