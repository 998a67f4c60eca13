/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The file of a table: trusted only when it is ours, replaced when it is dead, removed by the last user. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <compat/regtab/file.h>
#include <compat/regtab/layout.h>
#include <compat/regtab/lock.h>
#include <compat/regtab/registry.h>
#include <compat/regtab/tab.h>

#include "actor.h"

#define QP 0x4au

static struct regtab_key the_key;
static char path[256];

static int setup(void **state)
{
	char name[REGTAB_NAME_SIZE];

	(void)state;
	the_key = actor_key(1);
	regtab_file_name(&the_key, name);
	snprintf(path, sizeof(path), "%s/%s", actor_dir(), name);
	return actor_files(actor_dir()) ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	rmdir(path);
	return actor_files(actor_dir()) ? -1 : 0;
}

static int open_table(struct regtab **tab, struct regtab_error *why)
{
	return regtab_open(&the_key, actor_dir(), tab, why);
}

/* What is there is refused with this error, and the reason names the file and says this. */
static void refused(int error, const char *phrase)
{
	struct regtab *tab = NULL;
	struct regtab_error why = { "" };

	assert_int_equal(open_table(&tab, &why), error);
	assert_null(tab);
	if (!strstr(why.text, path) || !strstr(why.text, phrase) || !strstr(why.text, "XRC_COMPAT_TABLE_DIR"))
		fail_msg("unhelpful: \"%s\", wanted \"%s\"", why.text, phrase);
}

static void make_file(const void *content, size_t size, off_t length, mode_t mode)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, size), size);
	assert_int_equal(ftruncate(fd, length), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void works(void)
{
	struct regtab_member *member;
	struct regtab *tab;

	assert_int_equal(open_table(&tab, NULL), 0);
	assert_int_equal(regtab_join(tab, "test", &member), 0);
	assert_int_equal(regtab_add(member, QP, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_count(tab, QP), 1);
	regtab_leave(member);
	regtab_close(tab);
	assert_int_equal(access(path, F_OK), -1);
}

/* ---- trust ---- */

static void it_is_private_to_the_user(void **state)
{
	mode_t old = umask(0);
	struct regtab *tab;
	struct stat st;

	(void)state;
	assert_int_equal(open_table(&tab, NULL), 0);
	umask(old);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_uid, geteuid());
	regtab_close(tab);
	old = umask(0777);	/* nor may a strange umask take our own rights */
	works();
	assert_int_equal(open_table(&tab, NULL), 0);
	umask(old);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	regtab_close(tab);
}

static void links_are_not_followed(void **state)
{
	(void)state;
	assert_int_equal(symlink("/etc/passwd", path), 0);
	refused(-EPERM, "not a regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("nowhere", path), 0);
	refused(-EPERM, "not a regular file");
}

static void other_kinds_of_files_are_refused(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	refused(-EPERM, "not a regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	refused(-EPERM, "not a regular file");
}

static void what_others_may_use_is_refused(void **state)
{
	(void)state;
	make_file("", 0, SEGMENTS_OFFSET, 0620);
	refused(-EPERM, "others may");
	assert_int_equal(chmod(path, 0602), 0);
	refused(-EPERM, "others may");
}

static void a_foreign_owner_is_refused(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	make_file("", 0, SEGMENTS_OFFSET, 0600);
	assert_int_equal(chown(path, 12345, 12345), 0);
	refused(-EPERM, "another user");
}

static void a_second_name_is_refused(void **state)
{
	char second[300];

	(void)state;
	snprintf(second, sizeof(second), "%s/second", actor_dir());
	make_file("", 0, SEGMENTS_OFFSET, 0600);
	assert_int_equal(link(path, second), 0);
	refused(-EPERM, "several names");
	unlink(second);
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
	assert_int_equal(regtab_open(&the_key, dir, &tab, &why), -EPERM);
	assert_non_null(strstr(why.text, "sticky"));
	assert_int_equal(chmod(dir, 01777), 0);
	assert_int_equal(regtab_open(&the_key, dir, &tab, &why), 0);
	regtab_close(tab);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(regtab_open(&the_key, dir, &tab, &why), -ENOENT);
	assert_non_null(strstr(why.text, dir));
	assert_non_null(strstr(why.text, "XRC_COMPAT_TABLE_DIR"));
}

/* ---- content ---- */

static struct table_header good_header(void)
{
	struct table_header header;
	struct regtab *tab;
	int fd;

	assert_int_equal(open_table(&tab, NULL), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);	/* closing it releases the locks of this process: tab is not used */
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	close(fd);
	regtab_close(tab);
	return header;
}

static void what_is_no_table_is_refused_and_kept(void **state)
{
	char noise[4096];
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 37 + 11);
	make_file("precious", 8, 8, 0600);
	refused(-EPERM, "too short");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 8);
	unlink(path);
	make_file("", 0, 0, 0600);
	refused(-EPERM, "too short");
	unlink(path);
	make_file(noise, sizeof(noise), SEGMENTS_OFFSET + 8192, 0600);
	refused(-EPERM, "not a registration table");
	assert_int_equal(access(path, F_OK), 0);
}

/* Left by a crash, of whatever kind: nobody has it, so it is replaced. */
static void dead_tables_are_replaced(void **state)
{
	struct table_header header = good_header(), changed;

	(void)state;
	for (int i = 0; i < 5; i++) {
		changed = header;
		if (i == 1)
			changed.version++;
		if (i == 2)
			changed.layout_hash ^= 1;
		if (i == 3)
			changed.boot_id[7] ^= 1;
		if (i == 4)
			changed.key.st_ino++;
		make_file(&changed, sizeof(changed), SEGMENTS_OFFSET + 8192, 0600);
		works();
	}
}

static void a_killed_users_table_is_replaced(void **state)
{
	struct actor a = actor_start(actor_dir(), 1);

	(void)state;
	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	actor_kill(&a);
	assert_int_equal(access(path, F_OK), 0);
	a = actor_start(actor_dir(), 1);
	assert_int_equal(actor_do(&a, ACT_KNOWS, QP), -EINVAL);
	actor_end(&a);
	assert_int_equal(access(path, F_OK), -1);
}

/* The same in use by somebody is refused. */
static pid_t hold(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int fd = open(path, O_RDWR);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd < 0 || regtab_lock(fd, F_RDLCK, LOCK_PRESENCE) || write(ready[1], "r", 1) != 1)
			_exit(1);
		sleep(60);
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

static void strange_tables_in_use_are_refused(void **state)
{
	static const struct { int error; const char *phrase; } expected[] = {
		{ -EPROTO, "another version" }, { -EPROTO, "another version" }, { -EPROTO, "another machine" },
		{ -EPERM, "another domain" }, { -EPERM, "damaged" }, { -EPERM, "damaged" },
	};
	struct table_header header = good_header(), changed;

	(void)state;
	for (int i = 0; i < 6; i++) {
		pid_t holder;

		changed = header;
		if (i == 0)
			changed.version++;
		if (i == 1)
			changed.layout_hash ^= 1;
		if (i == 2)
			changed.boot_id[7] ^= 1;
		if (i == 3)
			changed.key.st_ino++;
		if (i == 4)
			changed.shape = 0;
		if (i == 5)
			changed.shape = 0xffffffff;
		make_file(&changed, sizeof(changed), SEGMENTS_OFFSET + 8192, 0600);
		holder = hold();
		refused(expected[i].error, expected[i].phrase);
		release(holder);
		unlink(path);
	}
}

static void one_who_stops_half_way_is_waited_for_and_named(void **state)
{
	struct table_header header = good_header();
	struct regtab *tab = NULL;
	struct regtab_error why;
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	make_file(&header, sizeof(header), SEGMENTS_OFFSET + 8192, 0600);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int fd = open(path, O_RDWR);

		if (regtab_lock(fd, F_WRLCK, LOCK_PRESENCE) || write(ready[1], "r", 1) != 1)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(open_table(&tab, &why), -EAGAIN);
	assert_non_null(strstr(why.text, "stopped half-way"));
	release(pid);
	close(ready[0]);
	close(ready[1]);
	works();
}

/* ---- room ---- */

static void limit(const char *dir, const char *size)
{
	assert_int_equal(mount("none", dir, "tmpfs", 0, size), 0);
}

/* Exit status of the child: 0 passed, 77 not permitted. */
static int on_a_full_file_system(const char *dir)
{
	struct regtab_member *member;
	struct regtab *tab = NULL;
	struct regtab_error why;
	uint32_t n = 0;
	int error;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 77;
	limit(dir, "size=8k,mode=700");
	if (regtab_open(&the_key, dir, &tab, &why) != -ENOSPC || !strstr(why.text, "full") || tab)
		return 1;
	if (umount(dir))
		return 2;
	limit(dir, "size=256k,mode=700");
	if (regtab_open(&the_key, dir, &tab, &why) || regtab_join(tab, "test", &member))
		return 3;
	while (!(error = regtab_add(member, ++n, REGTAB_BY_KERNEL)))
		;
	if (error != -ENOSPC || n < 2000)
		return 4;
	if (regtab_unregister(member, 1, NULL) || regtab_add(member, 1, REGTAB_BY_KERNEL))
		return 5;	/* what is there goes on working */
	if (regtab_member_count(member) != (int)n - 1)
		return 6;
	regtab_leave(member);
	regtab_close(tab);
	return actor_files(dir) ? 7 : 0;
}

static void a_full_file_system_is_reported(void **state)
{
	char dir[200];
	int status;
	pid_t pid;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/full", actor_dir());
	assert_int_equal(mkdir(dir, 0700), 0);
	pid = fork();
	if (!pid)
		_exit(on_a_full_file_system(dir));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rmdir(dir);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

/* ---- opening against closing ---- */

static bool name_is_of_an_open_table(void)
{
	struct registry *registry = regtab_registry_lock();
	struct stat st;
	bool open = !stat(path, &st) && regtab_file_of_process(registry, st.st_dev, st.st_ino) >= 0;

	regtab_registry_unlock(registry);
	return open;
}

/* While a process has the table open, the name is that of its very file: so all who have it open have the same one. */
static int come_and_go(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		struct regtab_member *member;
		struct regtab *tab;

		if (open_table(&tab, NULL))
			return 1;
		if (!name_is_of_an_open_table())
			return 2;
		if (regtab_join(tab, "test", &member))
			return 3;
		if (i % 3 == 0)
			sched_yield();
		if (!name_is_of_an_open_table())
			return 4;
		regtab_leave(member);
		regtab_close(tab);
	}
	return 0;
}

static void many_come_and_go(void **state)
{
	pid_t pids[6];
	int status;

	(void)state;
	for (int i = 0; i < 6; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			alarm(30);
			_exit(come_and_go(500));
		}
	}
	for (int i = 0; i < 6; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(access(path, F_OK), -1);
}

/* ---- cleaning up against opening, in two threads ---- */

static bool enough;

static void *clean_up(void *arg)
{
	while (!__atomic_load_n(&enough, __ATOMIC_ACQUIRE))
		regtab_gc(actor_dir(), false, NULL, NULL);
	return arg;
}

/* A process that has the table open says of members whether their locks are held. */
static void tell_of_locks(int in, int out)
{
	struct regtab_member *member;
	struct regtab *tab;
	unsigned index = 0;
	bool held = true;

	alarm(60);
	if (open_table(&tab, NULL) || regtab_join(tab, "witness", &member))
		_exit(1);
	do	/* its own is number 0, of which it is not asked */
		held = !index || regtab_lock_holder(tab->file.fd, LOCK_MEMBER(index)) == F_WRLCK;
	while (write(out, &held, sizeof(held)) == sizeof(held) && read(in, &index, sizeof(index)) == sizeof(index));
	_exit(0);
}

static bool lock_is_held(const int witness[2], unsigned index)
{
	bool held = false;

	return write(witness[1], &index, sizeof(index)) == sizeof(index) &&
	       read(witness[0], &held, sizeof(held)) == sizeof(held) && held;
}

static unsigned members_without_lock(const int witness[2])
{
	unsigned without = 0;

	for (int i = 0; i < 2000; i++) {
		struct regtab_member *member;
		struct regtab *tab;

		assert_int_equal(open_table(&tab, NULL), 0);
		assert_int_equal(regtab_join(tab, "test", &member), 0);
		without += !lock_is_held(witness, member->index);
		regtab_leave(member);
		regtab_close(tab);
	}
	return without;
}

static void cleaning_up_takes_no_locks_away(void **state)
{
	int to_witness[2], from_witness[2], status;
	pthread_t thread;
	bool ready;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(to_witness) | pipe(from_witness), 0);
	pid = fork();
	if (!pid)
		tell_of_locks(to_witness[0], from_witness[1]);
	assert_int_equal(read(from_witness[0], &ready, sizeof(ready)), sizeof(ready));
	__atomic_store_n(&enough, false, __ATOMIC_RELEASE);
	assert_int_equal(pthread_create(&thread, NULL, clean_up, NULL), 0);
	assert_int_equal(members_without_lock((int[2]){ from_witness[0], to_witness[1] }), 0);
	__atomic_store_n(&enough, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(to_witness[0]);
	close(to_witness[1]);
	close(from_witness[0]);
	close(from_witness[1]);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(it_is_private_to_the_user),
		CASE(links_are_not_followed),
		CASE(other_kinds_of_files_are_refused),
		CASE(what_others_may_use_is_refused),
		CASE(a_foreign_owner_is_refused),
		CASE(a_second_name_is_refused),
		CASE(directories_of_everybody_are_refused),
		CASE(what_is_no_table_is_refused_and_kept),
		CASE(dead_tables_are_replaced),
		CASE(a_killed_users_table_is_replaced),
		CASE(strange_tables_in_use_are_refused),
		CASE(one_who_stops_half_way_is_waited_for_and_named),
		CASE(a_full_file_system_is_reported),
		CASE(many_come_and_go),
		CASE(cleaning_up_takes_no_locks_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
