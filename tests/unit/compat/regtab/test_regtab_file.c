/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The file of a table is used only if it is the user's alone; and its users notice when it is removed. */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <compat/regtab/file.h>
#include <compat/regtab/layout.h>

#include "../../unit.h"
#include "actor.h"
#include "table.h"

#define QP 0x4au

TEST(it_is_private_to_the_user)
{
	mode_t old = umask(0);
	struct regtab *tab;
	struct stat st;

	assert_int_equal(table_open(&tab, NULL), 0);
	umask(old);
	assert_int_equal(lstat(table_path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_uid, geteuid());
	regtab_close(tab);
	old = umask(0777);	/* a umask must not take the user's own rights */
	table_works();
	assert_int_equal(table_open(&tab, NULL), 0);
	umask(old);
	assert_int_equal(lstat(table_path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	regtab_close(tab);
}

TEST(links_are_not_followed)
{
	assert_int_equal(symlink("/etc/passwd", table_path), 0);
	table_refused(-EPERM, "not a regular file");
	assert_int_equal(unlink(table_path), 0);
	assert_int_equal(symlink("nowhere", table_path), 0);
	table_refused(-EPERM, "not a regular file");
}

TEST(other_kinds_of_files_are_refused)
{
	assert_int_equal(mkfifo(table_path, 0600), 0);
	table_refused(-EPERM, "not a regular file");
	assert_int_equal(unlink(table_path), 0);
	assert_int_equal(mkdir(table_path, 0700), 0);
	table_refused(-EPERM, "not a regular file");
}

TEST(what_others_may_use_is_refused)
{
	table_make("", 0, REGTAB_PAGE, 0620);
	table_refused(-EPERM, "others may");
	assert_int_equal(chmod(table_path, 0602), 0);
	table_refused(-EPERM, "others may");
}

TEST(a_second_name_is_refused)
{
	char second[300];

	snprintf(second, sizeof(second), "%s/second", actor_dir());
	table_make("", 0, REGTAB_PAGE, 0600);
	assert_int_equal(link(table_path, second), 0);
	table_refused(-EPERM, "several names");
	unlink(second);
}

/* Anybody can create files in a world-writable directory. The user's processes then meet at another of the possible names. */
TEST(a_file_of_another_user_stops_nobody)
{
	struct actor a, b;

	if (geteuid())
		skip_because("only root can give a file to another user");
	table_make("", 0, REGTAB_PAGE, 0600);
	assert_int_equal(chown(table_path, 12345, 12345), 0);
	a = actor_start(actor_dir(), 1);
	b = actor_start(actor_dir(), 1);
	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	assert_int_equal(actor_do(&b, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&b, ACT_COUNT, QP), 2);
	actor_end(&a);
	actor_end(&b);
	assert_int_equal(actor_files(actor_dir()), 1);
}

/* Another user has created a file at every possible name. */
TEST(taking_every_name_is_an_error_that_says_so)
{
	struct table_file file;

	if (geteuid())
		skip_because("only root can give a file to another user");
	for (unsigned n = 0; n < REGTAB_NAMES; n++) {
		assert_int_equal(regtab_file_path(&file, actor_dir(), &table_key, n), 0);
		snprintf(table_path, sizeof(table_path), "%s", file.path);
		table_make("", 0, REGTAB_PAGE, 0600);
		assert_int_equal(chown(table_path, 12345, 12345), 0);
	}
	table_refused(-EPERM, "another user");
	for (unsigned n = 0; n < REGTAB_NAMES; n++) {
		regtab_file_path(&file, actor_dir(), &table_key, n);
		unlink(file.path);
	}
}

TEST(relative_directories_are_refused)
{
	struct regtab_error why = { "" };
	struct regtab *tab = NULL;

	assert_int_equal(regtab_open(&table_key, "tables", &tab, &why), -EPERM);
	assert_non_null(strstr(why.text, "absolute"));
	assert_non_null(strstr(why.text, "XRC_COMPAT_TABLE_DIR"));
}

TEST(directories_of_everybody_are_refused)
{
	struct regtab *tab = NULL;
	struct regtab_error why;
	char dir[200];

	snprintf(dir, sizeof(dir), "%s/open", actor_dir());
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(regtab_open(&table_key, dir, &tab, &why), -EPERM);
	assert_non_null(strstr(why.text, "sticky"));
	assert_int_equal(chmod(dir, 01777), 0);
	assert_int_equal(regtab_open(&table_key, dir, &tab, &why), 0);
	regtab_close(tab);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(regtab_open(&table_key, dir, &tab, &why), -ENOENT);
	assert_non_null(strstr(why.text, dir));
	assert_non_null(strstr(why.text, "XRC_COMPAT_TABLE_DIR"));
}

TEST(a_removed_table_is_noticed)
{
	struct regtab *tab, *another;

	assert_int_equal(table_open(&tab, NULL), 0);
	assert_false(regtab_removed(tab));
	assert_int_equal(unlink(table_path), 0);
	assert_true(regtab_removed(tab));
	assert_int_equal(table_open(&another, NULL), 0);
	assert_ptr_not_equal(tab, another);
	assert_true(regtab_removed(tab));
	regtab_close(tab);
	assert_false(regtab_removed(another));
	regtab_close(another);
}

/* A program that has given up its rights to the directory still has its table. */
TEST(a_table_out_of_sight_is_not_removed)
{
	bool root = !geteuid();
	struct regtab *tab;
	bool removed;

	assert_int_equal(table_open(&tab, NULL), 0);
	assert_int_equal(chmod(actor_dir(), 0), 0);
	assert_int_equal(root ? seteuid(65534) : 0, 0);
	removed = regtab_removed(tab);
	assert_int_equal(root ? seteuid(0) : 0, 0);
	assert_int_equal(chmod(actor_dir(), 0700), 0);
	assert_false(removed);
	regtab_close(tab);
}

/* 77: not permitted. */
static int removed_for_chroot(void)
{
	struct regtab *tab;

	if (table_open(&tab, NULL))
		return 1;
	if (chroot("/proc") && (unshare(CLONE_NEWUSER) || chroot("/proc")))
		return 77;
	return regtab_removed(tab) ? 2 : 0;
}

/* So has one that went into a chroot, as daemons do. */
TEST(a_table_out_of_a_chroot_is_not_removed)
{
	int status = in_child(removed_for_chroot());

	assert_int_equal(unlink(table_path), 0);
	child_passed(status, "no permission for a chroot");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, table_setup, table_teardown)

UNIT_MAIN(NULL, NULL,
	CASE(it_is_private_to_the_user), CASE(links_are_not_followed), CASE(other_kinds_of_files_are_refused),
	CASE(what_others_may_use_is_refused), CASE(a_second_name_is_refused), CASE(a_file_of_another_user_stops_nobody),
	CASE(taking_every_name_is_an_error_that_says_so), CASE(relative_directories_are_refused),
	CASE(directories_of_everybody_are_refused), CASE(a_removed_table_is_noticed),
	CASE(a_table_out_of_sight_is_not_removed), CASE(a_table_out_of_a_chroot_is_not_removed))
