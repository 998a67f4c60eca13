/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Many threads of one process on one table, shared and private; most useful when built with -Db_sanitize=thread. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <compat/owner/owner.h>

#include "../../unit.h"
#include "actor.h"
#include "invariants.h"

#define THREADS 8u
#define ROUNDS 400u
#define COMMON 10u	/* QPs that all register with */
#define SERVED 99u
#define ENTERED 500u	/* QPs that come and go with whoever enters them */

struct crew {
	struct regtab *tab;
	struct regtab_member *member;
	struct owner *owner;
	bool stop;
	int errors;
};

struct hand {
	struct crew *crew;
	unsigned self;
};

/* cmocka's assertions are for its own thread only. */
static void check(struct crew *crew, bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "not so: %s\n", what);
	__atomic_add_fetch(&crew->errors, 1, __ATOMIC_RELAXED);
}

#define CHECK(crew, condition) check(crew, condition, #condition)

static int echo(void *context, uint32_t qp_num, const void *request, size_t len, void *answer, size_t *answer_len)
{
	(void)context;
	(void)qp_num;
	memcpy(answer, request, len);
	*answer_len = len;
	return 0;
}

static void ignore(void *context, uint32_t qp_num)
{
	(void)context;
	(void)qp_num;
}

static void *serve(void *arg)
{
	static const struct owner_service service = { echo, ignore };
	struct crew *crew = arg;

	while (!__atomic_load_n(&crew->stop, __ATOMIC_ACQUIRE))
		owner_serve(crew->owner, &service, NULL, 50);
	return NULL;
}

static void ask(struct crew *crew, struct regtab_member *member, uint32_t number)
{
	uint32_t answer = 0;
	size_t len = sizeof(answer);

	CHECK(crew, !owner_ask(member, SERVED, &number, sizeof(number), &answer, &len, 20000));
	CHECK(crew, len == sizeof(answer) && answer == number);
}

static void one_round(struct crew *crew, struct regtab_member *member, uint32_t own, uint32_t i)
{
	uint32_t common = 1 + i % COMMON;
	bool last = false;

	CHECK(crew, !regtab_add(member, own, REGTAB_BY_KERNEL));
	CHECK(crew, !regtab_register(member, common));
	CHECK(crew, regtab_is_registered(member, common));
	CHECK(crew, regtab_count(crew->tab, common) >= 2);
	CHECK(crew, !regtab_unregister(member, common, &last) && !last);
	CHECK(crew, regtab_count(crew->tab, own) == 1);
	CHECK(crew, !regtab_unregister(member, own, &last) && last);
	CHECK(crew, !regtab_enter(member, ENTERED + i % 4));
	CHECK(crew, regtab_is_registered(member, ENTERED + i % 4));
	CHECK(crew, !regtab_unregister(member, ENTERED + i % 4, NULL));
	if (i % 16 == 0)
		ask(crew, member, own);
}

static void *work(void *arg)
{
	struct hand *hand = arg;
	struct crew *crew = hand->crew;
	struct regtab_member *member;

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i % 100 == 0) {
			CHECK(crew, !regtab_join(crew->tab, "thread", &member));
			for (uint32_t n = 0; n < 300; n++)	/* grows the table while others use it */
				CHECK(crew, !regtab_add(member, 10000 + hand->self * 1000 + n, REGTAB_BY_KERNEL));
		}
		one_round(crew, member, 1000 + hand->self * 1000 + i % 500, i);
		if (i % 100 == 99)
			regtab_leave(member);
		if (i % 50 == 0)
			CHECK(crew, regtab_reap(crew->tab) == 0);
	}
	return NULL;
}

TEST(threads_share_a_table)
{
	struct crew crew = { .tab = NULL };
	struct regtab_key key = actor_key(1);
	struct hand hands[THREADS];
	pthread_t threads[THREADS], server;

	assert_int_equal(regtab_open(&key, actor_dir(), &crew.tab, NULL), 0);
	assert_int_equal(regtab_join(crew.tab, "owner", &crew.member), 0);
	assert_int_equal(owner_open(crew.member, &crew.owner), 0);
	assert_int_equal(regtab_add(crew.member, SERVED, REGTAB_BY_OWNER), 0);
	for (uint32_t i = 1; i <= COMMON; i++)
		assert_int_equal(regtab_add(crew.member, i, REGTAB_BY_KERNEL), 0);
	assert_int_equal(pthread_create(&server, NULL, serve, &crew), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		hands[i] = (struct hand){ &crew, i };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &hands[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&crew.stop, true, __ATOMIC_RELEASE);
	owner_stop(crew.owner);
	pthread_join(server, NULL);
	owner_close(crew.owner);
	assert_int_equal(crew.errors, 0);
	assert_null(invariants_broken(crew.tab));
	assert_int_equal(regtab_member_count(crew.member), COMMON + 1);
	regtab_leave(crew.member);
	regtab_close(crew.tab);
	assert_int_equal(actor_files(actor_dir()), 0);
}

/* ---- growing ---- */

static void *fill(void *arg)
{
	struct hand *hand = arg;
	struct regtab_member *member;

	CHECK(hand->crew, !regtab_join(hand->crew->tab, "thread", &member));
	for (uint32_t n = 0; n < 600; n++)
		CHECK(hand->crew, !regtab_add(member, 1 + n * THREADS + hand->self, REGTAB_BY_KERNEL));
	return member;
}

/* All find at the same moment that the table must grow. Each gets pages of its own, and no more than it needs. */
TEST(it_grows_as_needed)
{
	struct regtab_member *members[THREADS];
	struct hand hands[THREADS];
	pthread_t threads[THREADS];

	for (int round = 0; round < 20; round++) {
		struct regtab_key key = actor_key(1);
		struct crew crew = { .tab = NULL };

		assert_int_equal(regtab_open(&key, actor_dir(), &crew.tab, NULL), 0);
		for (unsigned i = 0; i < THREADS; i++) {
			hands[i] = (struct hand){ &crew, i };
			assert_int_equal(pthread_create(&threads[i], NULL, fill, &hands[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(threads[i], (void **)&members[i]);
		assert_int_equal(crew.errors, 0);
		assert_int_equal(crew.tab->header->pages, 1 + THREADS * 3);	/* row, registered, created */
		assert_null(invariants_broken(crew.tab));
		for (unsigned i = 0; i < THREADS; i++)
			regtab_leave(members[i]);
		regtab_close(crew.tab);
	}
}

static void *come_and_go(void *arg)
{
	struct regtab_key key = actor_key(1);
	int *errors = arg;

	for (int i = 0; i < 200; i++) {
		struct regtab_member *member;
		struct regtab *tab;

		if (regtab_open(&key, actor_dir(), &tab, NULL) || regtab_join(tab, "thread", &member)) {
			__atomic_add_fetch(errors, 1, __ATOMIC_RELAXED);
			break;
		}
		regtab_leave(member);
		regtab_close(tab);
	}
	return NULL;
}

TEST(threads_open_and_close)
{
	pthread_t threads[THREADS];
	int errors = 0;

	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &errors), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(errors, 0);
	assert_int_equal(actor_files(actor_dir()), 0);
}

UNIT_MAIN(NULL, NULL,
	UNIT(threads_share_a_table), UNIT(it_grows_as_needed), UNIT(threads_open_and_close))
