/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Registration as the contract has it (5.4 to 5.7), within a process and between processes. */

#include <errno.h>
#include <stdlib.h>

#include "../../unit.h"
#include "actor.h"

#define QP 0x80004au

struct pair {
	struct regtab *tab;
	struct regtab_member *creator;
	struct regtab_member *other;
};

static struct pair setup(void)
{
	struct regtab_key key = actor_key(0);
	struct regtab_error why = { "" };
	struct pair pair;

	if (regtab_open(&key, actor_dir(), &pair.tab, &why))
		fail_msg("%s", why.text);
	assert_int_equal(regtab_join(pair.tab, "creator", &pair.creator), 0);
	assert_int_equal(regtab_join(pair.tab, "other", &pair.other), 0);
	return pair;
}

static void teardown(struct pair *pair)
{
	regtab_leave(pair->creator);
	regtab_leave(pair->other);
	regtab_close(pair->tab);
	assert_int_equal(actor_files(actor_dir()), 0);
}

static int unregister(struct regtab_member *member, uint32_t qp_num)
{
	bool last;
	int error = regtab_unregister(member, qp_num, &last);

	return error ? error : last;
}

TEST(creator_is_registered)
{
	struct pair pair = setup();

	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_KERNEL), 0);
	assert_true(regtab_is_registered(pair.creator, QP));
	assert_false(regtab_is_registered(pair.other, QP));
	assert_int_equal(regtab_count(pair.tab, QP), 1);
	assert_int_equal(unregister(pair.creator, QP), 1);
	assert_int_equal(regtab_count(pair.tab, QP), -EINVAL);
	teardown(&pair);
}

TEST(registering_is_idempotent)
{
	struct pair pair = setup();

	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_KERNEL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(regtab_register(pair.creator, QP), 0);
		assert_int_equal(regtab_register(pair.other, QP), 0);
		assert_int_equal(regtab_count(pair.tab, QP), 2);
	}
	assert_int_equal(unregister(pair.other, QP), 0);
	assert_int_equal(unregister(pair.other, QP), -EINVAL);
	assert_int_equal(regtab_count(pair.tab, QP), 1);
	teardown(&pair);
}

TEST(creator_may_leave_first)
{
	struct pair pair = setup();

	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_register(pair.other, QP), 0);
	assert_int_equal(unregister(pair.creator, QP), 0);
	assert_int_equal(regtab_count(pair.tab, QP), 1);
	assert_int_equal(regtab_register(pair.creator, QP), 0);
	assert_int_equal(unregister(pair.creator, QP), 0);
	assert_int_equal(unregister(pair.other, QP), 1);
	assert_int_equal(regtab_register(pair.other, QP), -EINVAL);
	teardown(&pair);
}

TEST(unknown_numbers_are_refused)
{
	static const uint32_t bad[] = { 0, 1, QP + 1, 0xffffff, 0x1000000, 0xffffffff };
	struct pair pair = setup();

	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_KERNEL), 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(regtab_register(pair.other, bad[i]), -EINVAL);
		assert_int_equal(unregister(pair.creator, bad[i]), -EINVAL);
		assert_int_equal(regtab_count(pair.tab, bad[i]), -EINVAL);
		assert_int_equal(regtab_knows(pair.other, bad[i], NULL, NULL), -EINVAL);
		assert_false(regtab_is_registered(pair.creator, bad[i]));
	}
	assert_int_equal(regtab_add(pair.creator, 0, REGTAB_BY_KERNEL), -EINVAL);
	assert_int_equal(regtab_add(pair.creator, 0x1000000, REGTAB_BY_KERNEL), -EINVAL);
	teardown(&pair);
}

TEST(failed_unregister_leaves_last_alone)
{
	struct pair pair = setup();
	bool last = true;

	assert_int_equal(regtab_unregister(pair.other, QP, &last), -EINVAL);
	assert_true(last);
	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_unregister(pair.creator, QP, NULL), 0);
	assert_int_equal(regtab_count(pair.tab, QP), -EINVAL);
	teardown(&pair);
}

TEST(leaving_ends_registrations)
{
	struct pair pair = setup();

	for (uint32_t i = 1; i <= 100; i++) {
		assert_int_equal(regtab_add(pair.creator, i, REGTAB_BY_KERNEL), 0);
		if (i % 2)
			assert_int_equal(regtab_register(pair.other, i), 0);
	}
	assert_int_equal(regtab_member_count(pair.creator), 100);
	assert_int_equal(regtab_member_count(pair.other), 50);
	regtab_leave(pair.creator);
	assert_int_equal(regtab_member_count(pair.other), 50);
	for (uint32_t i = 1; i <= 100; i++)
		assert_int_equal(regtab_count(pair.tab, i), i % 2 ? 1 : -EINVAL);
	assert_int_equal(regtab_join(pair.tab, NULL, &pair.creator), 0);
	assert_int_equal(regtab_member_count(pair.creator), 0);
	teardown(&pair);
}

TEST(a_number_used_again_begins_anew)
{
	struct pair pair = setup();

	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_register(pair.other, QP), 0);
	/* The kernel reuses a number only after the QP is gone, so what the table has under it is void. */
	assert_int_equal(regtab_add(pair.other, QP, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_count(pair.tab, QP), 1);
	assert_int_equal(unregister(pair.creator, QP), -EINVAL);
	assert_int_equal(unregister(pair.other, QP), 1);
	teardown(&pair);
}

TEST(entering_registers_or_adds)
{
	struct pair pair = setup();

	assert_int_equal(regtab_enter(pair.creator, 0), -EINVAL);
	assert_int_equal(regtab_enter(pair.creator, QP), 0);
	assert_int_equal(regtab_enter(pair.creator, QP), 0);
	assert_int_equal(regtab_enter(pair.other, QP), 0);
	assert_int_equal(regtab_count(pair.tab, QP), 2);
	assert_int_equal(unregister(pair.creator, QP), 0);
	assert_int_equal(unregister(pair.other, QP), 1);
	teardown(&pair);
}

TEST(the_table_grows)
{
	const uint32_t count = 20000;
	struct pair pair = setup();

	for (uint32_t i = 1; i <= count; i++)
		assert_int_equal(regtab_add(pair.creator, i * 3 % 0xffffff, REGTAB_BY_KERNEL), 0);
	for (uint32_t i = 1; i <= count; i++)
		assert_int_equal(regtab_register(pair.other, i * 3 % 0xffffff), 0);
	assert_int_equal(regtab_member_count(pair.other), count);
	for (uint32_t i = 1; i <= count; i++) {
		assert_int_equal(unregister(pair.creator, i * 3 % 0xffffff), 0);
		assert_int_equal(unregister(pair.other, i * 3 % 0xffffff), 1);
	}
	assert_int_equal(regtab_member_count(pair.other), 0);
	teardown(&pair);
}

TEST(random_numbers_find_room)
{
	struct pair pair = setup();
	uint32_t number = 1;

	for (int i = 0; i < 16384; i++) {
		number = (number * 1103515245u + 12345u) & 0xffffff;
		assert_int_equal(regtab_add(pair.creator, number | 1, REGTAB_BY_KERNEL), 0);
	}
	teardown(&pair);
}

TEST(many_members)
{
	struct pair pair = setup();
	static struct regtab_member *members[REGTAB_MEMBERS_MAX];
	struct regtab_member *extra = NULL;
	unsigned count = REGTAB_MEMBERS_MAX - 2;

	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_KERNEL), 0);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(regtab_join(pair.tab, "one of many", &members[i]), 0);
		assert_int_equal(regtab_register(members[i], QP), 0);
	}
	assert_int_equal(regtab_count(pair.tab, QP), count + 1);
	assert_int_equal(regtab_join(pair.tab, "too many", &extra), -ENOMEM);
	assert_null(extra);
	assert_int_equal(unregister(pair.creator, QP), 0);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(unregister(members[i], QP), i == count - 1);
		regtab_leave(members[i]);
	}
	teardown(&pair);
}

TEST(owner_hears_of_the_end)
{
	struct pair pair = setup();
	enum regtab_carrier carrier;
	bool mine;

	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_OWNER), 0);
	assert_int_equal(regtab_knows(pair.other, QP, &carrier, &mine), 0);
	assert_int_equal(carrier, REGTAB_BY_OWNER);
	assert_false(mine);
	assert_int_equal(regtab_register(pair.other, QP), 0);
	assert_int_equal(unregister(pair.other, QP), 0);
	assert_int_equal(unregister(pair.creator, QP), 1);	/* told that it is the last: it destroys the QP */
	assert_int_equal(regtab_knows(pair.other, QP, NULL, NULL), -EINVAL);
	teardown(&pair);
}

TEST(owner_takes_its_qps_along)
{
	struct pair pair = setup();

	assert_int_equal(regtab_add(pair.creator, QP, REGTAB_BY_OWNER), 0);
	assert_int_equal(regtab_register(pair.other, QP), 0);
	regtab_leave(pair.creator);
	assert_int_equal(regtab_register(pair.other, QP), -EOWNERDEAD);
	assert_int_equal(regtab_knows(pair.other, QP, NULL, NULL), -EOWNERDEAD);
	assert_true(regtab_is_registered(pair.other, QP));
	assert_int_equal(unregister(pair.other, QP), 1);	/* which ends well for the program all the same */
	assert_int_equal(regtab_register(pair.other, QP), -EINVAL);
	assert_int_equal(regtab_join(pair.tab, NULL, &pair.creator), 0);
	teardown(&pair);
}

/* ---- between processes ---- */

TEST(processes_see_each_other)
{
	struct actor a = actor_start(actor_dir(), 1), b = actor_start(actor_dir(), 1), c = actor_start(actor_dir(), 2);

	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 2);
	assert_int_equal(actor_do(&c, ACT_REGISTER, QP), -EINVAL);	/* another domain */
	assert_int_equal(actor_do(&a, ACT_UNREGISTER, QP), 0);
	assert_int_equal(actor_do(&b, ACT_COUNT, QP), 1);
	assert_int_equal(actor_do(&b, ACT_UNREGISTER, QP), 1);
	actor_end(&a);
	actor_end(&b);
	actor_end(&c);
	assert_int_equal(actor_files(actor_dir()), 0);
}

TEST(two_contexts_are_two_registrants)
{
	struct actor a = actor_start(actor_dir(), 1), b = actor_start(actor_dir(), 1);

	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&b, ACT_JOIN, 0), 0);
	assert_int_equal(actor_do(&b, ACT_IS_REGISTERED, QP), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 3);
	actor_kill(&b);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 1);
	actor_end(&a);
	assert_int_equal(actor_files(actor_dir()), 0);
}

TEST(growth_is_followed)
{
	struct actor a = actor_start(actor_dir(), 1), b = actor_start(actor_dir(), 1);

	for (uint32_t i = 1; i <= 3000; i++)
		assert_int_equal(actor_do(i % 2 ? &a : &b, ACT_ADD, i), 0);
	for (uint32_t i = 1; i <= 3000; i += 7) {
		assert_int_equal(actor_do(i % 2 ? &b : &a, ACT_REGISTER, i), 0);
		assert_int_equal(actor_do(&a, ACT_COUNT, i), 2);
	}
	actor_end(&a);
	actor_end(&b);
}

TEST(an_inode_of_two_devices_is_two_domains)
{
	struct regtab_key one = actor_key(1), two = actor_key(1);
	struct regtab *a, *b, *again;

	two.device[5] = '1';
	assert_int_equal(regtab_open(&one, actor_dir(), &a, NULL), 0);
	assert_int_equal(regtab_open(&two, actor_dir(), &b, NULL), 0);
	assert_int_equal(regtab_open(&one, actor_dir(), &again, NULL), 0);
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(a, again);
	regtab_close(a);
	regtab_close(b);
	assert_int_equal(actor_files(actor_dir()), 1);
	regtab_close(again);
	assert_int_equal(actor_files(actor_dir()), 0);
}

UNIT_MAIN(NULL, NULL,
	UNIT(creator_is_registered), UNIT(registering_is_idempotent), UNIT(creator_may_leave_first),
	UNIT(unknown_numbers_are_refused), UNIT(failed_unregister_leaves_last_alone), UNIT(leaving_ends_registrations),
	UNIT(a_number_used_again_begins_anew), UNIT(entering_registers_or_adds), UNIT(the_table_grows),
	UNIT(random_numbers_find_room), UNIT(many_members), UNIT(owner_hears_of_the_end),
	UNIT(owner_takes_its_qps_along), UNIT(processes_see_each_other), UNIT(two_contexts_are_two_registrants),
	UNIT(growth_is_followed), UNIT(an_inode_of_two_devices_is_two_domains))
