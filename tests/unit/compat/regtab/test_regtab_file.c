/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The file of a table: trusted only when it is ours, replaced when it is dead, removed by the last user. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <compat/regtab/file.h>
#include <compat/regtab/layout.h>
#include <compat/regtab/tab.h>

#include "actor.h"
#include "table.h"

#define QP 0x4au

/* What is there is refused with this error, and the reason names the file and says this. */
static void refused(int error, const char *phrase)
{
	struct regtab *tab = NULL;
	struct regtab_error why = { "" };

	assert_int_equal(table_open(&tab, &why), error);
	assert_null(tab);
	if (!strstr(why.text, table_path) || !strstr(why.text, phrase) || !strstr(why.text, "XRC_COMPAT_TABLE_DIR"))
		fail_msg("unhelpful: \"%s\", wanted \"%s\"", why.text, phrase);
}

static void make_file(const void *content, size_t size, off_t length, mode_t mode)
{
	int fd = open(table_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

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

	assert_int_equal(table_open(&tab, NULL), 0);
	assert_int_equal(regtab_join(tab, "test", &member), 0);
	assert_int_equal(regtab_add(member, QP, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_count(tab, QP), 1);
	regtab_leave(member);
	regtab_close(tab);
	assert_int_equal(access(table_path, F_OK), -1);
}

/* ---- trust ---- */

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
	works();
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
	refused(-EPERM, "not a regular file");
	assert_int_equal(unlink(table_path), 0);
	assert_int_equal(symlink("nowhere", table_path), 0);
	refused(-EPERM, "not a regular file");
}

static void other_kinds_of_files_are_refused(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(table_path, 0600), 0);
	refused(-EPERM, "not a regular file");
	assert_int_equal(unlink(table_path), 0);
	assert_int_equal(mkdir(table_path, 0700), 0);
	refused(-EPERM, "not a regular file");
}

static void what_others_may_use_is_refused(void **state)
{
	(void)state;
	make_file("", 0, REGTAB_PAGE, 0620);
	refused(-EPERM, "others may");
	assert_int_equal(chmod(table_path, 0602), 0);
	refused(-EPERM, "others may");
}

/* Anybody can plant files in a directory of everybody; the processes of a user meet in another of their names then. */
static void a_file_of_another_user_stops_nobody(void **state)
{
	struct actor a, b;

	(void)state;
	if (geteuid())
		skip();
	make_file("", 0, REGTAB_PAGE, 0600);
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
		skip();
	for (unsigned n = 0; n < REGTAB_NAMES; n++) {
		assert_int_equal(regtab_file_path(&file, actor_dir(), &table_key, n), 0);
		snprintf(table_path, sizeof(table_path), "%s", file.path);
		make_file("", 0, REGTAB_PAGE, 0600);
		assert_int_equal(chown(table_path, 12345, 12345), 0);
	}
	refused(-EPERM, "another user");
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

/* ---- descriptors ---- */

/* A program may have closed standard input; what it opens next must be that, not our table. */
static void its_descriptor_is_no_standard_one(void **state)
{
	int spare = dup(0), fd;
	struct regtab *tab;

	(void)state;
	close(0);
	assert_int_equal(table_open(&tab, NULL), 0);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(fd, 0);
	assert_true(tab->file.own.fd > 2);
	regtab_close(tab);
	assert_int_equal(dup2(spare, 0), 0);
	close(spare);
	assert_int_equal(access(table_path, F_OK), -1);
}

/* What the program opened in the place of a descriptor of ours is not grown, locked away, or closed. */
static void a_descriptor_taken_by_the_program_is_left_alone(void **state)
{
	char name[] = "/tmp/regtab-program-XXXXXX";
	struct regtab_member *member;
	struct actor a = actor_start(actor_dir(), 1);
	struct regtab *tab;
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(actor_do(&a, ACT_ADD, QP + 1), 0);
	assert_int_equal(table_open(&tab, NULL), 0);
	assert_int_equal(regtab_join(tab, "test", &member), 0);
	assert_int_equal(regtab_add(member, QP, REGTAB_BY_KERNEL), 0);
	fd = mkstemp(name);
	assert_int_equal(dup2(fd, tab->file.own.fd), tab->file.own.fd);
	for (uint32_t i = 1; i < 64; i++)
		assert_int_equal(regtab_add(member, i << 16, REGTAB_BY_KERNEL), -ESTALE);
	assert_int_equal(regtab_register(member, QP + 1), 0);
	assert_int_equal(regtab_unregister(member, QP + 1, &(bool){ false }), 0);	/* nor are all the others dead now */
	assert_int_equal(actor_do(&a, ACT_IS_REGISTERED, QP + 1), 1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	fd = tab->file.own.fd;
	regtab_leave(member);
	regtab_close(tab);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	unlink(name);
	actor_end(&a);
}

/* ---- limits ---- */

/* No setting of ulimit -f may kill: SIGXFSZ is what growing a file beyond it sends. */
static int under_a_file_size_limit(rlim_t limit)
{
	struct rlimit limits = { limit, limit };
	struct regtab_error why = { "" };
	struct regtab_member *member;
	struct regtab *tab;
	int err;

	if (setrlimit(RLIMIT_FSIZE, &limits))
		return 2;
	err = table_open(&tab, &why);
	if (err)
		return err != -EFBIG || !strstr(why.text, "ulimit -f");
	err = regtab_join(tab, "test", &member);
	for (uint32_t i = 1; !err && i <= QP_NUM_MAX; i += RANGE_QPS)
		err = regtab_add(member, i, REGTAB_BY_KERNEL);
	return err != -EFBIG;
}

static void a_file_size_limit_is_an_error(void **state)
{
	(void)state;
	for (rlim_t limit = 0; limit <= 20000; limit += 2000) {
		int status;
		pid_t pid = fork();

		if (!pid)
			_exit(under_a_file_size_limit(limit));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		unlink(table_path);
	}
}

/* Resident pages of this process. */
static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long total, pages = 0;

	if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2)
		pages = 0;
	if (file)
		fclose(file);
	return pages;
}

/* In a program that has all its memory locked, a table costs what is used of it. 77: not permitted. */
static int with_locked_memory(void)
{
	struct regtab *tab;
	long before;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return 77;
	before = resident();
	if (table_open(&tab, NULL))
		return 1;
	return resident() - before > 256;
}

static void locked_memory_is_not_filled(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(with_locked_memory());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
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

static void a_second_name_is_refused(void **state)
{
	char second[300];

	(void)state;
	snprintf(second, sizeof(second), "%s/second", actor_dir());
	make_file("", 0, REGTAB_PAGE, 0600);
	assert_int_equal(link(table_path, second), 0);
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

/* ---- content ---- */

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

static void what_is_no_table_is_refused_and_kept(void **state)
{
	char noise[4096];
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 37 + 11);
	make_file("precious", 8, 8, 0600);
	refused(-EPERM, "too short");
	assert_int_equal(stat(table_path, &st), 0);
	assert_int_equal(st.st_size, 8);
	unlink(table_path);
	make_file("", 0, 0, 0600);
	refused(-EPERM, "too short");
	unlink(table_path);
	make_file(noise, sizeof(noise), 2 * REGTAB_PAGE, 0600);
	refused(-EPERM, "not a registration table");
	assert_int_equal(access(table_path, F_OK), 0);
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
		make_file(&changed, sizeof(changed), 2 * REGTAB_PAGE, 0600);
		works();
	}
}

static void a_killed_users_table_is_replaced(void **state)
{
	struct actor a = actor_start(actor_dir(), 1);

	(void)state;
	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	actor_kill(&a);
	assert_int_equal(access(table_path, F_OK), 0);
	a = actor_start(actor_dir(), 1);
	assert_int_equal(actor_do(&a, ACT_KNOWS, QP), -EINVAL);
	actor_end(&a);
	assert_int_equal(access(table_path, F_OK), -1);
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
		int fd = open(table_path, O_RDWR);

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
			changed.pages = 0;
		if (i == 5)
			changed.pages = 0xffffffff;
		make_file(&changed, sizeof(changed), 2 * REGTAB_PAGE, 0600);
		holder = hold();
		refused(expected[i].error, expected[i].phrase);
		release(holder);
		unlink(table_path);
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
	make_file(&header, sizeof(header), 2 * REGTAB_PAGE, 0600);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int fd = open(table_path, O_RDWR);

		if (regtab_lock(fd, F_WRLCK, LOCK_PRESENCE) || write(ready[1], "r", 1) != 1)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(table_open(&tab, &why), -EAGAIN);
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

static void fill(const char *dir)
{
	char name[220], page[REGTAB_PAGE] = "";
	int fd;

	snprintf(name, sizeof(name), "%s/filler", dir);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, page, sizeof(page)) > 0)
		;
	close(fd);
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
	fill(dir);
	if (regtab_open(&table_key, dir, &tab, &why) != -ENOSPC || !strstr(why.text, "full") || tab)
		return 1;
	if (umount(dir))
		return 2;
	limit(dir, "size=256k,mode=700");
	if (regtab_open(&table_key, dir, &tab, &why) || regtab_join(tab, "test", &member))
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

#define CASE(f) cmocka_unit_test_setup_teardown(f, table_setup, table_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(it_is_private_to_the_user),
		CASE(links_are_not_followed),
		CASE(other_kinds_of_files_are_refused),
		CASE(what_others_may_use_is_refused),
		CASE(a_file_of_another_user_stops_nobody),
		CASE(one_who_plants_them_all_is_named),
		CASE(relative_directories_are_refused),
		CASE(its_descriptor_is_no_standard_one),
		CASE(a_descriptor_taken_by_the_program_is_left_alone),
		CASE(a_file_size_limit_is_an_error),
		CASE(locked_memory_is_not_filled),
		CASE(a_removed_table_is_noticed),
		CASE(a_table_out_of_sight_is_not_removed),
		CASE(a_second_name_is_refused),
		CASE(directories_of_everybody_are_refused),
		CASE(what_is_no_table_is_refused_and_kept),
		CASE(dead_tables_are_replaced),
		CASE(a_killed_users_table_is_replaced),
		CASE(strange_tables_in_use_are_refused),
		CASE(one_who_stops_half_way_is_waited_for_and_named),
		CASE(a_full_file_system_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
