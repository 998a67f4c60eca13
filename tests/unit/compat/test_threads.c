/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads of a program use the same domains, and a child forked inside a verb uses the library. Run
 * this with ThreadSanitizer (-Db_sanitize=thread), too.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <base/state.h>
#include <compat/device.h>
#include <compat/domain.h>
#include <compat/rcv_qp.h>

#include <harness/unit.h>
#include "../common/child.h"
#include "../common/provider.h"

#define THREADS 6
#define ROUNDS 100

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

UNIT_MAIN(NULL, NULL)
