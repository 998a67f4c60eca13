/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Limits: the number of the descriptor, the size of files, the size of the file system. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regtab_fixture.h"

/*
 * A program may have closed standard input. The next file that it opens must get descriptor 0, so
 * the table's file must not have it.
 */
TEST(the_tables_descriptor_is_above_2)
{
	int spare = dup(0), fd, err;
	struct regtab_entry *entry;

	close(0);
	entry = try_entry(tables_dir(), &err);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(fd, 0);
	assert_true(read_tables().live == 1);
	regtab_free(entry);
	assert_int_equal(dup2(spare, 0), 0);
	close(spare);
}

static int without_descriptors_above_2(void)
{
	struct rlimit limits = { 3, 3 };
	struct regtab_entry *entry;
	int err;

	close(0);
	if (setrlimit(RLIMIT_NOFILE, &limits))
		return 2;
	entry = try_entry(tables_dir(), &err);
	regtab_free(entry);
	return !err;
}

TEST(no_file_is_left_if_no_descriptor_above_2_is_free)
{
	assert_int_equal(in_child(without_descriptors_above_2()), 0);
	assert_int_equal(count_files(NULL), 0);
}

/*
 * SIGXFSZ would kill the program. Exit status 0: the library told of an error instead, entries that
 * fit worked, and the others were written without the limit.
 */
static int under_a_file_size_limit(rlim_t limit)
{
	struct rlimit limits = { limit, RLIM_INFINITY };
	struct regtab_entry *entry;
	struct regtab_news news;
	int err;

	if (setrlimit(RLIMIT_FSIZE, &limits))
		return 2;
	entry = try_entry(tables_dir(), &err);
	if (err != (limit < 2000 ? -EFBIG : 0))
		return 3;
	if (err && count_files(NULL))
		return 4;
	regtab_enter(entry, 1, true);
	if (!err && read_tables().qps != (limit < 6000 ? 0 : 1))
		return 5;
	regtab_enter(entry, 0x800000, true);
	advance_a_second();
	regtab_refresh(entry, &news);
	if (news.err != -EFBIG)
		return 6;
	limits.rlim_cur = RLIM_INFINITY;
	if (setrlimit(RLIMIT_FSIZE, &limits))
		return 7;
	advance_a_second();
	regtab_refresh(entry, &news);
	if (read_tables().qps != 2)
		return 8;
	regtab_free(entry);
	return 0;
}

TEST(a_file_size_limit_is_an_error)
{
	for (rlim_t limit = 0; limit <= 20000; limit += 2000)
		assert_int_equal(in_child(under_a_file_size_limit(limit)), 0);
}

static void fill(const char *dir)
{
	char name[220], page[4096] = "";
	int fd;

	snprintf(name, sizeof(name), "%s/filler", dir);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, page, sizeof(page)) > 0)
		;
	close(fd);
}

static int err_after_a_second(struct regtab_entry *entry)
{
	struct regtab_news news;

	advance_a_second();
	regtab_refresh(entry, &news);
	return news.err;
}

static int when_full(const char *dir, struct regtab_entry *entry)
{
	char name[220];
	int err;

	fill(dir);
	regtab_drop(entry, 7);		/* pages that the file already has can still be written */
	regtab_enter(entry, 8, false);
	if (err_after_a_second(entry))
		return 4;
	regtab_enter(entry, 0x800000, true);
	if (err_after_a_second(entry) != -ENOSPC)
		return 3;
	regtab_free(try_entry(dir, &err));
	if (err != -ENOSPC)
		return 5;
	snprintf(name, sizeof(name), "%s/filler", dir);
	unlink(name);
	err_after_a_second(entry);	/* it tells of the last error, and writes again */
	return err_after_a_second(entry) ? 6 : 0;
}

/* Returns 77 if it is not permitted. */
static int on_a_small_file_system(const char *dir)
{
	struct regtab_entry *entry;
	int err;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 77;
	if (mount("none", dir, "tmpfs", 0, "size=64k,mode=700"))
		return 77;
	entry = try_entry(dir, &err);
	if (err)
		return 1;
	regtab_enter(entry, 7, true);
	err = when_full(dir, entry);
	regtab_free(entry);
	return err;
}

TEST(a_full_file_system_is_an_error)
{
	char dir[200];
	int status;

	snprintf(dir, sizeof(dir), "%s/full", tables_dir());
	assert_int_equal(mkdir(dir, 0700), 0);
	status = in_child(on_a_small_file_system(dir));
	rmdir(dir);
	child_passed(status, "no permission to mount a file system");
}

UNIT_MAIN(NULL, NULL)
