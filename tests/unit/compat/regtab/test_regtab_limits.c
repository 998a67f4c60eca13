/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A table when something is short: descriptors, file size, locked memory, room on the file system. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/regtab/layout.h>
#include <compat/regtab/tab.h>

#include "../../unit.h"
#include "actor.h"
#include "table.h"

#define QP 0x4au

/* A program may have closed standard input; what it opens next must be that, not our table. */
TEST(its_descriptor_is_no_standard_one)
{
	int spare = dup(0), fd;
	struct regtab *tab;

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
TEST(a_descriptor_taken_by_the_program_is_left_alone)
{
	char name[] = "/tmp/regtab-program-XXXXXX";
	struct regtab_member *member;
	struct actor a = actor_start(actor_dir(), 1);
	struct regtab *tab;
	struct stat st;
	int fd;

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

TEST(a_file_size_limit_is_an_error)
{
	for (rlim_t limit = 0; limit <= 20000; limit += 2000) {
		assert_int_equal(in_child(under_a_file_size_limit(limit)), 0);
		unlink(table_path);
	}
}

/* That many files may be opened. Nobody may be led to believe that the table is another machine's. */
static int with_descriptors(rlim_t count)
{
	struct rlimit limits;
	struct table_header header;
	struct regtab_error why = { "" };
	struct regtab *tab;
	int spare = dup(0), err;

	close(spare);
	if (getrlimit(RLIMIT_NOFILE, &limits))
		return 2;
	limits.rlim_cur = (rlim_t)spare + count;
	if (setrlimit(RLIMIT_NOFILE, &limits))
		return 3;
	err = table_open(&tab, &why);
	if (err)
		return err != -EMFILE || !strstr(why.text, table_path);
	if (pread(tab->file.own.fd, &header, sizeof(header), 0) != sizeof(header))
		return 4;
	return !header.boot_id[0];
}

TEST(too_few_descriptors_are_an_error)
{
	struct actor a;

	for (rlim_t count = 0; count < 6; count++) {
		assert_int_equal(in_child(with_descriptors(count)), 0);
		unlink(table_path);
	}
	a = actor_start(actor_dir(), 1);
	assert_int_equal(actor_do(&a, ACT_ADD, QP), 0);
	for (rlim_t count = 0; count < 6; count++)
		assert_int_equal(in_child(with_descriptors(count)), 0);
	actor_end(&a);
}

/* Pages of this process, and those of them that are resident. */
static long all_pages(long *resident)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long all = 0;

	if (!file || fscanf(file, "%ld %ld", &all, resident) != 2)
		all = *resident = 0;
	if (file)
		fclose(file);
	return all;
}

static long resident(void)
{
	long pages;

	all_pages(&pages);
	return pages;
}

/* As with the little that a batch system's ulimit -v leaves over: a table takes 64 MiB. */
TEST(too_little_address_space_is_an_error_that_says_so)
{
	struct regtab_error why = { "" };
	struct rlimit limits, before;
	struct regtab *tab;
	long unused;
	int err;

	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limits = before;
	limits.rlim_cur = (rlim_t)all_pages(&unused) * (rlim_t)sysconf(_SC_PAGESIZE) + (32 << 20);
	assert_int_equal(setrlimit(RLIMIT_AS, &limits), 0);
	err = table_open(&tab, &why);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(err, -ENOMEM);
	assert_non_null(strstr(why.text, "ulimit -v"));
	assert_int_equal(access(table_path, F_OK), -1);
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

TEST(locked_memory_is_not_filled)
{
	child_passed(in_child(with_locked_memory()), "no permission to lock memory");
}

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

TEST(a_full_file_system_is_reported)
{
	char dir[200];
	int status;

	snprintf(dir, sizeof(dir), "%s/full", actor_dir());
	assert_int_equal(mkdir(dir, 0700), 0);
	status = in_child(on_a_full_file_system(dir));
	rmdir(dir);
	child_passed(status, "no permission to mount a file system");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, table_setup, table_teardown)

UNIT_MAIN(NULL, NULL,
	CASE(its_descriptor_is_no_standard_one), CASE(a_descriptor_taken_by_the_program_is_left_alone),
	CASE(a_file_size_limit_is_an_error), CASE(too_little_address_space_is_an_error_that_says_so),
	CASE(too_few_descriptors_are_an_error), CASE(locked_memory_is_not_filled),
	CASE(a_full_file_system_is_reported))
