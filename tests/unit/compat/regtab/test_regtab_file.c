/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The file of a table: trusted only when it is the user's alone, found by its name, noticed when it is gone. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <compat/regtab/file.h>
#include <compat/regtab/layout.h>

#include "../../skip.h"
#include "actor.h"
#include "table.h"

#define QP 0x4au

static void it_is_private_to_the_user(void **state)
{
	mode_t old = umask(0);
	struct regtab *tab;
	struct stat st;

	(void)state;
	assert_int_equal(table_open(&tab, NULL), 0);
	umask(old);
	assert_int_equal(lstat(table_path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_uid, geteuid());
	regtab_close(tab);
	old = umask(0777);	/* nor may a strange umask take our own rights */
	table_works();
	assert_int_equal(table_open(&tab, NULL), 0);
	umask(old);
	assert_int_equal(lstat(table_path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	regtab_close(tab);
}

static void links_are_not_followed(void **state)
{
	(void)state;
	assert_int_equal(symlink("/etc/passwd", table_path), 0);
	table_refused(-EPERM, "not a regular file");
	assert_int_equal(unlink(table_path), 0);
	assert_int_equal(symlink("nowhere", table_path), 0);
	table_refused(-EPERM, "not a regular file");
}

static void other_kinds_of_files_are_refused(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(table_path, 0600), 0);
	table_refused(-EPERM, "not a regular file");
	assert_int_equal(unlink(table_path), 0);
	assert_int_equal(mkdir(table_path, 0700), 0);
	table_refused(-EPERM, "not a regular file");
}

static void what_others_may_use_is_refused(void **state)
{
	(void)state;
	table_make("", 0, REGTAB_PAGE, 0620);
	table_refused(-EPERM, "others may");
	assert_int_equal(chmod(table_path, 0602), 0);
	table_refused(-EPERM, "others may");
}

static void a_second_name_is_refused(void **state)
{
	char second[300];

	(void)state;
	snprintf(second, sizeof(second), "%s/second", actor_dir());
	table_make("", 0, REGTAB_PAGE, 0600);
	assert_int_equal(link(table_path, second), 0);
	table_refused(-EPERM, "several names");
	unlink(second);
}

/* Anybody can plant files in a directory of everybody; the processes of a user meet in another of their names then. */
static void a_file_of_another_user_stops_nobody(void **state)
{
	struct actor a, b;

	(void)state;
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

/* All the names that he may have. */
static void one_who_plants_them_all_is_named(void **state)
{
	struct table_file file;

	(void)state;
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

static void relative_directories_are_refused(void **state)
{
	struct regtab_error why = { "" };
	struct regtab *tab = NULL;

	(void)state;
	assert_int_equal(regtab_open(&table_key, "tables", &tab, &why), -EPERM);
	assert_non_null(strstr(why.text, "absolute"));
	assert_non_null(strstr(why.text, "XRC_COMPAT_TABLE_DIR"));
}

static void directories_of_everybody_are_refused(void **state)
{
	struct regtab *tab = NULL;
	struct regtab_error why;
	char dir[200];

	(void)state;
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

static void a_removed_table_is_noticed(void **state)
{
	struct regtab *tab, *another;

	(void)state;
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

/* A program that gave up its rights, or the directory's, still has its table. */
static void a_table_out_of_sight_is_not_removed(void **state)
{
	bool root = !geteuid();
	struct regtab *tab;
	bool removed;

	(void)state;
	assert_int_equal(table_open(&tab, NULL), 0);
	assert_int_equal(chmod(actor_dir(), 0), 0);
	assert_int_equal(root ? seteuid(65534) : 0, 0);
	removed = regtab_removed(tab);
	assert_int_equal(root ? seteuid(0) : 0, 0);
	assert_int_equal(chmod(actor_dir(), 0700), 0);
	assert_false(removed);
	regtab_close(tab);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, table_setup, table_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(it_is_private_to_the_user),
		CASE(links_are_not_followed),
		CASE(other_kinds_of_files_are_refused),
		CASE(what_others_may_use_is_refused),
		CASE(a_second_name_is_refused),
		CASE(a_file_of_another_user_stops_nobody),
		CASE(one_who_plants_them_all_is_named),
		CASE(relative_directories_are_refused),
		CASE(directories_of_everybody_are_refused),
		CASE(a_removed_table_is_noticed),
		CASE(a_table_out_of_sight_is_not_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
