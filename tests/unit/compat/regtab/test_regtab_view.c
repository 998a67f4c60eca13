/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What people see of tables, and the removal of dead ones. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <compat/regtab/file.h>
#include <tools/tables/view.h>

#include "../../unit.h"
#include "actor.h"

#define QP 0x4au

/* What a test expects of the one or the two tables that it made. */
struct seen {
	unsigned tables;
	unsigned refused;
	unsigned in_use;
	unsigned live;
	unsigned stale;
	unsigned qps;
	unsigned registrations;
	pid_t creator;
	char reason[600];
};

/* The name that the kernel has of this program, also under a user-space emulator of another processor. */
static const char *own_command(void)
{
	static char name[16];

	snprintf(name, sizeof(name), "%s", program_invocation_short_name);
	return name;
}

static int visit(void *context, const struct regtab_view *view)
{
	struct seen *seen = context;

	seen->tables++;
	seen->in_use += view->condition == REGTAB_IN_USE;
	if (view->condition == REGTAB_REFUSED) {
		seen->refused++;
		snprintf(seen->reason, sizeof(seen->reason), "%s", view->reason.text);
		assert_int_equal(view->member_count + view->qp_count, 0);
		return 0;
	}
	assert_string_equal(view->key.device, "mlx4_0");
	assert_int_equal(view->uid, geteuid());
	assert_true(view->bytes > 0 && view->created > 0);
	for (unsigned i = 0; i < view->member_count; i++) {
		const struct regtab_view_member *member = &view->members[i];

		seen->live += member->live;
		seen->stale += !member->live;
		assert_false(member->foreign);
		assert_true(member->since > 0 && member->pid_namespace > 0);
		assert_string_equal(member->label, "actor");
		assert_string_equal(member->command, own_command());
	}
	for (unsigned q = 0; q < view->qp_count; q++) {
		unsigned counted = 0;

		seen->qps++;
		if (view->qps[q].creator >= 0)
			seen->creator = (pid_t)view->members[view->qps[q].creator].pid;
		for (unsigned m = 0; m < view->member_count; m++)
			counted += regtab_view_registered(view, q, m);
		assert_int_equal(counted, view->qps[q].registrants);
		seen->registrations += counted;
		assert_true(!q || view->qps[q].qp_num > view->qps[q - 1].qp_num);
	}
	return 0;
}

static struct seen look(void)
{
	struct seen seen = { 0 };

	assert_int_equal(regtab_list(actor_dir(), visit, &seen), 0);
	return seen;
}

static int stop_at_first(void *context, const struct regtab_view *view)
{
	(void)view;
	return ++*(int *)context == 1 ? 42 : 0;
}

TEST(tables_are_listed)
{
	struct actor a = actor_start(actor_dir(), 1), b = actor_start(actor_dir(), 1), c = actor_start(actor_dir(), 2);
	struct seen seen;
	int calls = 0;

	for (uint32_t i = 1; i <= 700; i++)
		assert_int_equal(actor_do(&a, ACT_ADD, i * 5), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, 50), 0);
	seen = look();
	assert_int_equal(seen.tables, 2);
	assert_int_equal(seen.in_use, 2);
	assert_int_equal(seen.live, 3);
	assert_int_equal(seen.stale, 0);
	assert_int_equal(seen.qps, 700);
	assert_int_equal(seen.registrations, 701);
	assert_int_equal(seen.creator, a.pid);
	actor_kill(&b);
	seen = look();
	assert_int_equal(seen.live, 2);
	assert_int_equal(seen.stale, 1);	/* looking changes nothing, so it is shown until somebody cleans up */
	assert_int_equal(seen.registrations, 701);
	assert_int_equal(regtab_list(actor_dir(), stop_at_first, &calls), 42);
	assert_int_equal(calls, 1);
	actor_end(&a);
	actor_end(&c);
	assert_int_equal(look().tables, 0);
	assert_int_equal(regtab_list("/nowhere", visit, &seen), -ENOENT);
}

TEST(looking_does_not_release_own_locks)
{
	struct regtab_key key = actor_key(1);
	struct actor a = actor_start(actor_dir(), 1);
	struct regtab_member *member;
	struct regtab *tab;
	struct seen seen;

	assert_int_equal(regtab_open(&key, actor_dir(), &tab, NULL), 0);
	assert_int_equal(regtab_join(tab, "actor", &member), 0);
	assert_int_equal(regtab_add(member, QP, REGTAB_BY_KERNEL), 0);
	seen = look();
	assert_int_equal(seen.live, 2);
	assert_int_equal(regtab_gc(actor_dir(), false, NULL, NULL), 0);
	assert_int_equal(actor_do(&a, ACT_COUNT, QP), 1);	/* we still live, for others */
	assert_int_equal(actor_do(&a, ACT_REAP, 0), 0);
	regtab_leave(member);
	regtab_close(tab);
	actor_end(&a);
}

static int count_lost(void *context, const struct regtab_view *view)
{
	for (unsigned q = 0; q < view->qp_count; q++)
		*(unsigned *)context += view->qps[q].state == REGTAB_QP_LOST;
	return 0;
}

/* The processes that kept a QP are dead: it is shown as lost, although nobody has cleaned up yet. */
TEST(the_dead_keep_nothing)
{
	struct actor a = actor_start(actor_dir(), 1), b = actor_start(actor_dir(), 1);
	unsigned lost = 0;

	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	assert_int_equal(actor_do(&a, ACT_ADD_OWNED, QP + 1), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP + 1), 0);
	regtab_list(actor_dir(), count_lost, &lost);
	assert_int_equal(lost, 0);
	actor_kill(&a);
	regtab_list(actor_dir(), count_lost, &lost);
	assert_int_equal(lost, 1);	/* the owner's; the kernel keeps the other for b */
	actor_kill(&b);
	lost = 0;
	regtab_list(actor_dir(), count_lost, &lost);
	assert_int_equal(lost, 2);
	assert_int_equal(regtab_gc(actor_dir(), false, NULL, NULL), 1);
}

/* If all ranges share one page of bits, a table of a few KiB claims millions of registrations. */
TEST(a_forged_table_is_refused)
{
	struct actor a = actor_start(actor_dir(), 1);
	struct table_file file;
	struct regtab_key key = actor_key(1);
	struct member_row row;
	struct seen seen;
	int fd;

	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	assert_int_equal(regtab_file_path(&file, actor_dir(), &key, 0), 0);
	fd = open(file.path, O_RDWR);
	assert_int_equal(pread(fd, &row, sizeof(row), REGTAB_PAGE), sizeof(row));
	for (unsigned range = 0; range < RANGES; range++)
		row.maps[ROW_REGISTERED][range] = row.maps[ROW_REGISTERED][0];
	assert_int_equal(pwrite(fd, &row, sizeof(row), REGTAB_PAGE), sizeof(row));
	close(fd);
	seen = look();
	assert_int_equal(seen.refused, 1);
	assert_non_null(strstr(seen.reason, "damaged"));
	actor_end(&a);
	assert_int_equal(actor_files(actor_dir()), 0);
}

struct verdicts {
	unsigned of[3];
};

static void count_verdict(void *context, const char *path, enum regtab_verdict verdict, const char *reason)
{
	struct verdicts *verdicts = context;

	assert_non_null(strstr(path, actor_dir()));
	assert_true(reason && *reason);
	verdicts->of[verdict]++;
}

TEST(only_the_dead_are_removed)
{
	struct actor a = actor_start(actor_dir(), 1), b = actor_start(actor_dir(), 2);
	struct verdicts verdicts = { { 0 } };
	char stranger[200];
	int fd;

	actor_kill(&b);
	snprintf(stranger, sizeof(stranger), "%s/xrc-compat-stranger", actor_dir());
	fd = open(stranger, O_CREAT | O_RDWR, 0600);
	assert_int_equal(ftruncate(fd, 1 << 22), 0);
	close(fd);
	actor_stop(&a);	/* stopped is not dead */
	assert_int_equal(regtab_gc(actor_dir(), true, count_verdict, &verdicts), 1);
	assert_int_equal(actor_files(actor_dir()), 3);
	assert_int_equal(verdicts.of[REGTAB_REMOVED], 1);
	assert_int_equal(verdicts.of[REGTAB_KEPT], 1);
	assert_int_equal(verdicts.of[REGTAB_LEFT_ALONE], 1);
	assert_int_equal(regtab_gc(actor_dir(), false, count_verdict, &verdicts), 1);
	assert_int_equal(actor_files(actor_dir()), 2);
	assert_int_equal(regtab_gc(actor_dir(), false, count_verdict, &verdicts), 0);
	actor_continue(&a);
	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	assert_int_equal(look().refused, 1);
	assert_non_null(strstr(look().reason, stranger));
	unlink(stranger);
	actor_end(&a);
	assert_int_equal(actor_files(actor_dir()), 0);
}

UNIT_MAIN(NULL, NULL,
	UNIT(tables_are_listed), UNIT(looking_does_not_release_own_locks), UNIT(the_dead_keep_nothing),
	UNIT(a_forged_table_is_refused), UNIT(only_the_dead_are_removed))
