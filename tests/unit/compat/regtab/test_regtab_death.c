/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Processes that are killed, stopped or forked, or that close descriptors which are not theirs. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit.h"
#include "actor.h"

#define QP 0x4au

static struct actor a, b;

FIXTURE(setup)
{
	a = actor_start(actor_dir(), 1);
	b = actor_start(actor_dir(), 1);
	return 0;
}

FIXTURE(teardown)
{
	actor_end(&a);
	return actor_files(actor_dir()) ? -1 : 0;
}

TEST(the_dead_do_not_count)
{
	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP), 0);
	actor_kill(&b);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 1);
	assert_int_equal(actor_do(&a, ACT_UNREGISTER, QP), 1);
}

TEST(last_is_told_without_the_dead)
{
	assert_int_equal(actor_do(&b, ACT_ADD, QP), 0);
	assert_int_equal(actor_do(&a, ACT_REGISTER, QP), 0);
	actor_kill(&b);
	assert_int_equal(actor_do(&a, ACT_UNREGISTER, QP), 1);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), -EINVAL);
}

TEST(a_qp_outlives_its_killed_creator)
{
	assert_int_equal(actor_do(&b, ACT_ADD, QP), 0);
	assert_int_equal(actor_do(&a, ACT_REGISTER, QP), 0);
	actor_kill(&b);
	assert_int_equal(actor_do(&a, ACT_REAP, 0), 1);
	assert_int_equal(actor_do(&a, ACT_KNOWS, QP), REGTAB_BY_KERNEL);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 1);
}

TEST(entries_of_the_dead_alone_are_removed)
{
	for (uint32_t i = 1; i <= 2000; i++)
		assert_int_equal(actor_do(&b, ACT_ADD, i), 0);
	assert_int_equal(actor_do(&a, ACT_REGISTER, 1000), 0);
	actor_kill(&b);
	assert_int_equal(actor_do(&a, ACT_REAP, 0), 1);
	assert_int_equal(actor_do(&a, ACT_REAP, 0), 0);
	for (uint32_t i = 1; i <= 2000; i++)
		assert_int_equal(actor_do(&a, ACT_KNOWS, i), i == 1000 ? REGTAB_BY_KERNEL : -EINVAL);
}

TEST(a_number_of_the_dead_is_clean)
{
	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	for (int i = 0; i < 40; i++) {
		struct actor c;

		assert_int_equal(actor_do(&b, ACT_REGISTER, QP), 0);
		actor_kill(&b);
		c = actor_start(actor_dir(), 1);	/* gets the number of the dead member */
		assert_int_equal(actor_do(&c, ACT_IS_REGISTERED, QP), 0);
		assert_int_equal(actor_do(&c, ACT_MEMBER_COUNT, 0), 0);
		assert_int_equal(actor_do(&a, ACT_COUNT, QP), 1);
		b = c;
	}
	actor_kill(&b);
}

TEST(an_owner_that_dies_takes_the_qp)
{
	assert_int_equal(actor_do(&b, ACT_ADD_OWNED, QP), 0);
	assert_int_equal(actor_do(&a, ACT_REGISTER, QP), 0);
	actor_kill(&b);
	assert_int_equal(actor_do(&a, ACT_REGISTER, QP), -EOWNERDEAD);
	assert_int_equal(actor_do(&a, ACT_ASK, QP), -EOWNERDEAD);
	assert_int_equal(actor_do(&a, ACT_UNREGISTER, QP), 1);
	assert_int_equal(actor_do(&a, ACT_REGISTER, QP), -EINVAL);
}

TEST(the_stopped_count_and_hold_nobody_up)
{
	assert_int_equal(actor_do(&b, ACT_ADD, QP), 0);
	actor_stop(&b);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(actor_do(&a, ACT_REGISTER, QP), 0);
		assert_int_equal(actor_do(&a, ACT_COUNT, QP), 2);
		assert_int_equal(actor_do(&a, ACT_UNREGISTER, QP), 0);
	}
	actor_continue(&b);
	assert_int_equal(actor_do(&b, ACT_UNREGISTER, QP), 1);
	actor_kill(&b);
}

/* ---- fork ---- */

static void child_does_not_keep_its_parent(enum act act)
{
	int child;

	assert_int_equal(actor_do(&b, ACT_ADD, QP), 0);
	assert_int_equal(actor_do(&a, ACT_REGISTER, QP), 0);
	child = actor_do(&b, act, 0);
	assert_true(child > 0);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 2);
	actor_kill(&b);
	assert_int_equal(kill(child, 0), 0);			/* it still sleeps, with all descriptors */
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 1);
	assert_int_equal(actor_do(&a, ACT_UNREGISTER, QP), 1);
	kill(child, SIGKILL);
}

TEST(a_forked_child_does_not_keep_its_dead_parent)
{
	child_does_not_keep_its_parent(ACT_FORK);
}

TEST(a_cloned_child_does_not_keep_its_dead_parent)
{
	child_does_not_keep_its_parent(ACT_CLONE);
}

TEST(a_childs_exit_frees_nothing)
{
	int child;

	assert_int_equal(actor_do(&b, ACT_ADD, QP), 0);
	child = actor_do(&b, ACT_FORK, 0);
	kill(child, SIGKILL);
	for (int i = 0; i < 1000 && !kill(child, 0); i++)	/* it may stay a zombie, for b does not wait for it */
		usleep(100);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 1);
	actor_kill(&b);
}

static int child_of_member(struct regtab *tab, struct regtab_member *member)
{
	struct regtab_key key = actor_key(1);
	struct regtab_member *own;
	struct regtab *again;

	if (regtab_register(member, QP) != -ECHILD || regtab_unregister(member, QP, NULL) != -ECHILD)
		return 1;
	if (regtab_add(member, QP + 1, REGTAB_BY_KERNEL) != -ECHILD || regtab_count(tab, QP) != -ECHILD)
		return 2;
	regtab_leave(member);
	regtab_close(tab);
	if (regtab_open(&key, actor_dir(), &again, NULL) || regtab_join(again, "child", &own))
		return 3;
	if (regtab_is_registered(own, QP) || regtab_count(again, QP) != 2)
		return 4;
	if (regtab_register(own, QP) || regtab_count(again, QP) != 3)
		return 5;
	return 0;
}

TEST(a_child_is_a_stranger)
{
	struct regtab_key key = actor_key(1);
	struct regtab_member *member;
	struct regtab *tab;
	int status;

	if (!actor_forks_wipe()) {
		actor_kill(&b);
		skip_because("MADV_WIPEONFORK succeeds here and wipes nothing");
	}
	assert_int_equal(regtab_open(&key, actor_dir(), &tab, NULL), 0);
	assert_int_equal(regtab_join(tab, "parent", &member), 0);
	assert_int_equal(regtab_add(member, QP, REGTAB_BY_KERNEL), 0);
	assert_int_equal(actor_do(&a, ACT_REGISTER, QP), 0);
	status = in_child(child_of_member(tab, member));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(regtab_count(tab, QP), 2);
	assert_true(regtab_is_registered(member, QP));
	regtab_leave(member);
	regtab_close(tab);
	actor_kill(&b);
}

/* ---- lost locks ---- */

TEST(who_lost_its_locks_is_told)
{
	assert_int_equal(actor_do(&b, ACT_ADD, QP), 0);
	actor_do(&b, ACT_CLOSE_FILES, 0);
	assert_int_equal(actor_do(&b, ACT_ADD, QP + 1), -ESTALE);	/* it notices before anybody else does */
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), -EINVAL);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP), -ESTALE);
	assert_int_equal(actor_do(&b, ACT_ADD, QP), -ESTALE);
	assert_int_equal(actor_do(&b, ACT_LEAVE, 0), 0);
	actor_kill(&b);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_MAIN(NULL, NULL,
	CASE(the_dead_do_not_count), CASE(last_is_told_without_the_dead), CASE(a_qp_outlives_its_killed_creator),
	CASE(entries_of_the_dead_alone_are_removed), CASE(a_number_of_the_dead_is_clean),
	CASE(an_owner_that_dies_takes_the_qp), CASE(the_stopped_count_and_hold_nobody_up),
	CASE(a_forked_child_does_not_keep_its_dead_parent), CASE(a_cloned_child_does_not_keep_its_dead_parent),
	CASE(a_childs_exit_frees_nothing), CASE(a_child_is_a_stranger), CASE(who_lost_its_locks_is_told))
