/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A file with unusable content is replaced if its users are dead, and refused if they live or if it is no table. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/regtab/file.h>
#include <compat/regtab/layout.h>

#include "../../unit.h"
#include "actor.h"
#include "table.h"

#define QP 0x4au

static struct table_header good_header(void)
{
	struct table_header header;
	struct regtab *tab;
	int fd;

	assert_int_equal(table_open(&tab, NULL), 0);
	fd = open(table_path, O_RDONLY | O_CLOEXEC);	/* closing it releases the locks of this process: tab is not used */
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	close(fd);
	regtab_close(tab);
	return header;
}

TEST(what_is_no_table_is_refused_and_kept)
{
	char noise[4096];
	struct stat st;

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 37 + 11);
	table_make("precious", 8, 8, 0600);
	table_refused(-EPERM, "too short");
	assert_int_equal(stat(table_path, &st), 0);
	assert_int_equal(st.st_size, 8);
	unlink(table_path);
	table_make("", 0, 0, 0600);
	table_refused(-EPERM, "too short");
	unlink(table_path);
	table_make(noise, sizeof(noise), 2 * REGTAB_PAGE, 0600);
	table_refused(-EPERM, "not a registration table");
	assert_int_equal(access(table_path, F_OK), 0);
}

/* A header with one thing of another version, machine or domain (1 to 4), or impossible (5, 6). */
static struct table_header strange(struct table_header header, int how)
{
	switch (how) {
	case 1: header.version++; break;
	case 2: header.layout_hash ^= 1; break;
	case 3: header.boot_id[7] ^= 1; break;
	case 4: header.key.st_ino++; break;
	case 5: header.pages = 0; break;
	case 6: header.pages = 0xffffffff; break;
	}
	return header;
}

/* Nobody has the table open, so it is replaced. */
TEST(dead_tables_are_replaced)
{
	struct table_header header = good_header(), changed;

	for (int how = 0; how <= 4; how++) {
		changed = strange(header, how);
		table_make(&changed, sizeof(changed), 2 * REGTAB_PAGE, 0600);
		table_works();
	}
}

TEST(a_killed_users_table_is_replaced)
{
	struct actor a = actor_start(actor_dir(), 1);

	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	actor_kill(&a);
	assert_int_equal(access(table_path, F_OK), 0);
	a = actor_start(actor_dir(), 1);
	assert_int_equal(actor_do(&a, ACT_KNOWS, QP), -EINVAL);
	actor_end(&a);
	assert_int_equal(access(table_path, F_OK), -1);
}

/* A process that has the file open with this lock on it, and stops. */
static pid_t hold(short lock)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int fd = open(table_path, O_RDWR);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd < 0 || regtab_lock(fd, lock, LOCK_PRESENCE) || write(ready[1], "r", 1) != 1)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void release(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The same in use by somebody is refused. */
TEST(strange_tables_in_use_are_refused)
{
	static const struct { int error; const char *phrase; } expected[] = {
		{ -EPROTO, "another version" }, { -EPROTO, "another version" }, { -EPROTO, "another machine" },
		{ -EPERM, "another domain" }, { -EPERM, "damaged" }, { -EPERM, "damaged" },
	};
	struct table_header header = good_header(), changed;

	for (int i = 0; i < 6; i++) {
		pid_t holder;

		changed = strange(header, i + 1);
		table_make(&changed, sizeof(changed), 2 * REGTAB_PAGE, 0600);
		holder = hold(F_RDLCK);
		table_refused(expected[i].error, expected[i].phrase);
		release(holder);
		unlink(table_path);
	}
}

TEST(one_who_stops_half_way_is_waited_for_and_named)
{
	struct table_header header = good_header();
	struct regtab *tab = NULL;
	struct regtab_error why;
	pid_t holder;

	table_make(&header, sizeof(header), 2 * REGTAB_PAGE, 0600);
	holder = hold(F_WRLCK);
	assert_int_equal(table_open(&tab, &why), -EAGAIN);
	assert_non_null(strstr(why.text, "stopped half-way"));
	release(holder);
	table_works();
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, table_setup, table_teardown)

UNIT_MAIN(NULL, NULL,
	CASE(what_is_no_table_is_refused_and_kept), CASE(dead_tables_are_replaced),
	CASE(a_killed_users_table_is_replaced), CASE(strange_tables_in_use_are_refused),
	CASE(one_who_stops_half_way_is_waited_for_and_named))
