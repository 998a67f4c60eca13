/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Processes of other kinds on one table: of 32 bits, in other namespaces, of another user. */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tools/tables/view.h>

#include "../../unit.h"
#include "actor.h"

#define QP 0x4au

static const char *program32;

/* ---- 32 and 64 bits ---- */

TEST(both_sizes_share_a_table)
{
	struct actor wide, narrow;

	if (!program32)
		skip_because("no 32-bit compiler");
	wide = actor_start(actor_dir(), 1);
	narrow = actor_start_program(program32, actor_dir(), 1);
	assert_int_equal(actor_files(actor_dir()), 1);
	for (uint32_t i = 1; i <= 1500; i++) {
		assert_int_equal(actor_do(i % 2 ? &wide : &narrow, ACT_ADD, i), 0);
		assert_int_equal(actor_do(i % 2 ? &narrow : &wide, ACT_REGISTER, i), 0);
		assert_int_equal(actor_do(&wide, ACT_COUNT, i), 2);
	}
	assert_int_equal(actor_do(&narrow, ACT_MEMBER_COUNT, 0), 1500);
	assert_int_equal(actor_do(&narrow, ACT_ADD_OWNED, 2000), 0);
	assert_int_equal(actor_do(&narrow, ACT_SERVE, 0), 0);
	assert_int_equal(actor_do(&wide, ACT_ASK, 2000 | 41 << 16), 42);
	assert_int_equal(actor_do(&wide, ACT_ADD_OWNED, 2001), 0);
	assert_int_equal(actor_do(&wide, ACT_SERVE, 0), 0);
	assert_int_equal(actor_do(&narrow, ACT_ASK, 2001 | 41 << 16), 42);
	actor_kill(&narrow);
	assert_int_equal(actor_do(&wide, ACT_COUNT, 7), 1);
	actor_end(&wide);
	assert_int_equal(actor_files(actor_dir()), 0);
}

/* ---- pid namespaces ---- */

static int see_foreign(void *context, const struct regtab_view *view)
{
	int *counts = context;

	for (unsigned i = 0; i < view->member_count; i++) {
		counts[0] += view->members[i].live && view->members[i].foreign;
		counts[1] += view->members[i].live && !view->members[i].foreign;
	}
	return 0;
}

/* In a process of its own, because only its later children get into the new namespace. 77: not permitted. */
static int across_namespaces(void)
{
	struct actor here, there;
	int counts[2] = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(30);
	here = actor_start(actor_dir(), 1);
	if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID)) {
		actor_kill(&here);
		return 77;
	}
	there = actor_start(actor_dir(), 1);
	if (actor_do(&here, ACT_ADD, QP) || actor_do(&there, ACT_REGISTER, QP) || actor_do(&here, ACT_COUNT, QP) != 2 ||
	    actor_do(&there, ACT_COUNT, QP) != 2 || actor_do(&there, ACT_REAP, 0))
		return 1;
	if (regtab_list(actor_dir(), see_foreign, counts) || counts[0] != 1 || counts[1] != 1)
		return 2;
	actor_kill(&there);
	if (actor_do(&here, ACT_COUNT, QP) != 1 || actor_do(&here, ACT_UNREGISTER, QP) != 1)
		return 3;
	actor_end(&here);
	return actor_files(actor_dir()) ? 4 : 0;
}

TEST(pid_namespaces_do_not_matter)
{
	child_passed(in_child(across_namespaces()), "no permission for another pid namespace");
}

/* ---- users ---- */

static int as_another_user(const char *dir)
{
	struct regtab_key key = actor_key(1);
	struct regtab_error why;
	struct regtab *tab = NULL;

	if (setgid(65534) || setuid(65534))
		return 77;
	if (regtab_open(&key, dir, &tab, &why))		/* a table of its own: tables are per user */
		return 1;
	regtab_close(tab);
	return 0;
}

TEST(users_have_tables_of_their_own)
{
	char dir[100];
	struct actor a;
	int status;

	snprintf(dir, sizeof(dir), "%s-users", actor_dir());
	if (mkdtemp(strcat(dir, "XXXXXX")) == NULL || chmod(dir, 01777))
		fail();
	a = actor_start(dir, 1);
	status = in_child(as_another_user(dir));
	actor_end(&a);
	assert_int_equal(rmdir(dir), 0);
	child_passed(status, "only root can become another user");
}

/* As in Apptainer or a rootless container that has the host's /dev/shm. 77: not permitted. */
static int where_root_has_no_number(void)
{
	uid_t uid = geteuid() ? geteuid() : 12345;
	struct regtab_key key = actor_key(1);
	struct regtab_error why;
	struct regtab *tab = NULL;
	struct stat st;
	FILE *map;

	if (!geteuid() && (setgid(uid) || setuid(uid) || prctl(PR_SET_DUMPABLE, 1)))
		return 77;
	if (unshare(CLONE_NEWUSER))
		return 77;
	map = fopen("/proc/self/uid_map", "w");
	if (!map || fprintf(map, "%u %u 1", uid, uid) < 0 || fclose(map) || geteuid() != uid)
		return 77;
	if (stat("/dev/shm", &st) || !st.st_uid || st.st_uid == uid)
		return 77;
	if (regtab_open(&key, "/dev/shm", &tab, &why))
		return 1;
	regtab_close(tab);
	return 0;
}

TEST(a_user_namespace_without_root_has_tables)
{
	child_passed(in_child(where_root_has_no_number()), "no permission for another user namespace");
}

/* As in a container whose /proc was mounted with subset=pid. 77: not permitted. */
static int where_the_boot_is_unknown(void)
{
	struct regtab_key key = actor_key(1);
	struct regtab_error why;
	struct regtab *tab = NULL;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc/sys/kernel/random", "tmpfs", 0, NULL))
		return 77;
	if (regtab_open(&key, actor_dir(), &tab, &why))
		return 1;
	regtab_close(tab);
	return 0;
}

TEST(a_process_that_does_not_know_the_boot_shares_a_table)
{
	struct actor a = actor_start(actor_dir(), 1);
	int status = in_child(where_the_boot_is_unknown());

	actor_end(&a);
	child_passed(status, "no permission for mounts");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		UNIT(both_sizes_share_a_table), UNIT(pid_namespaces_do_not_matter),
		UNIT(users_have_tables_of_their_own), UNIT(a_user_namespace_without_root_has_tables),
		UNIT(a_process_that_does_not_know_the_boot_shares_a_table),
	};

	program32 = argc > 1 ? argv[1] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
