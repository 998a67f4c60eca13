/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the process does and checks that lives on when another dies or stops. */

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit.h"
#include "actor.h"
#include "invariants.h"
#include "survivor.h"

int ask_served(struct regtab_member *member)
{
	char answer[8];
	size_t len = sizeof(answer);
	int error = owner_ask(member, SERVED, "ping", 4, answer, &len, ANSWER_MS);

	return error ? error : len != 4 || memcmp(answer, "pong", 4);
}

static int answer_ping(void *context, uint32_t qp_num, const void *request, size_t len, void *answer, size_t *answer_len)
{
	(void)context;
	if (qp_num != SERVED || len != 4 || memcmp(request, "ping", 4))
		return -EBADMSG;
	memcpy(answer, "pong", 4);
	*answer_len = 4;
	return 0;
}

static void ignore_retired(void *context, uint32_t qp_num)
{
	(void)context;
	(void)qp_num;
}

static void *serve(void *arg)
{
	static const struct owner_service service = { answer_ping, ignore_retired };
	struct survivor *survivor = arg;

	while (__atomic_load_n(&survivor->serving, __ATOMIC_ACQUIRE))
		owner_serve(survivor->owner, &service, NULL, 100);
	return NULL;
}

/* In a process that dies without leaving the table. */
static int die_registered(void)
{
	struct regtab_key key = actor_key(1);
	struct regtab_member *member;
	struct regtab *tab;

	MUST(regtab_open(&key, actor_dir(), &tab, NULL));
	MUST(regtab_join(tab, "corpse", &member));
	MUST(regtab_add(member, LEFT, REGTAB_BY_KERNEL));
	MUST(regtab_add(member, FORGOTTEN, REGTAB_BY_OWNER));
	MUST(regtab_register(member, SHARED));
	return 0;
}

void survivor_start(struct survivor *survivor)
{
	struct regtab_key key = actor_key(1);

	assert_int_equal(regtab_open(&key, actor_dir(), &survivor->tab, NULL), 0);
	assert_int_equal(regtab_join(survivor->tab, "survivor", &survivor->member), 0);
	assert_int_equal(regtab_join(survivor->tab, "its second", &survivor->second), 0);
	assert_int_equal(owner_open(survivor->member, &survivor->owner), 0);
	assert_int_equal(regtab_add(survivor->member, SHARED, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_add(survivor->member, SERVED, REGTAB_BY_OWNER), 0);
	assert_int_equal(regtab_add(survivor->member, REPLACED, REGTAB_BY_KERNEL), 0);
	assert_int_equal(in_child(die_registered()), 0);
	assert_int_equal(regtab_register(survivor->member, LEFT), 0);
	survivor->serving = true;
	assert_int_equal(pthread_create(&survivor->server, NULL, serve, survivor), 0);
}

void survivor_end(struct survivor *survivor)
{
	__atomic_store_n(&survivor->serving, false, __ATOMIC_RELEASE);
	owner_stop(survivor->owner);
	pthread_join(survivor->server, NULL);
	owner_close(survivor->owner);
	regtab_leave(survivor->second);
	regtab_leave(survivor->member);
	regtab_close(survivor->tab);
	assert_int_equal(actor_files(actor_dir()), 0);
}

static void use(struct survivor *survivor, uint32_t number)
{
	bool last;

	assert_int_equal(regtab_add(survivor->second, number, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_register(survivor->member, number), 0);
	assert_int_equal(regtab_count(survivor->tab, number), 2);
	assert_int_equal(regtab_unregister(survivor->second, number, &last), 0);
	assert_false(last);
	assert_int_equal(regtab_unregister(survivor->member, number, &last), 0);
	assert_true(last);
}

void survivor_check(struct survivor *survivor, unsigned long n)
{
	const char *broken;

	regtab_reap(survivor->tab);
	broken = invariants_broken(survivor->tab);
	if (broken)
		fail_msg("fault point %lu: %s", n, broken);
	assert_int_equal(regtab_count(survivor->tab, SHARED), 1);
	assert_int_equal(regtab_count(survivor->tab, SERVED), 1);
	assert_int_equal(regtab_count(survivor->tab, LEFT), 1);
	assert_int_equal(regtab_count(survivor->tab, FORGOTTEN), -EINVAL);
	assert_int_equal(regtab_count(survivor->tab, OWN), -EINVAL);
	assert_int_equal(regtab_count(survivor->tab, OWNED), -EINVAL);
	assert_int_equal(ask_served(survivor->second), 0);
	use(survivor, OWN);
	use(survivor, REPLACED);
	use(survivor, crowded(CROWD_SIZE));
}

/* While its owner lives, the QP is the owner's, or does not exist yet or any more. */
static void check_owned(struct survivor *survivor)
{
	int err = regtab_register(survivor->second, OWNED);
	unsigned owner;

	if (err) {
		assert_int_equal(err, -EINVAL);
		return;
	}
	assert_int_equal(regtab_owner(survivor->second, OWNED, &owner), 0);
	assert_int_equal(regtab_unregister(survivor->second, OWNED, NULL), 0);
}

void survivor_check_beside(struct survivor *survivor)
{
	struct regtab_member *joiner;
	int count;

	check_owned(survivor);
	count = regtab_count(survivor->tab, SHARED);
	assert_true(count >= 1 && count <= 3);
	assert_int_equal(regtab_register(survivor->second, SHARED), 0);
	assert_int_equal(regtab_unregister(survivor->second, SHARED, NULL), 0);
	use(survivor, 50);
	/* New pages, while the victim is handing out one. */
	for (unsigned i = 0; i < CROWD_SIZE; i++)
		use(survivor, crowded(CROWD_SIZE + i));
	assert_int_equal(regtab_join(survivor->tab, "joiner", &joiner), 0);
	assert_int_equal(regtab_register(joiner, LEFT), 0);
	regtab_leave(joiner);
}
