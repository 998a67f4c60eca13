/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Files of another program or user, damaged files, and files of dead processes. A writer ignores
 * them, a reader refuses those that are not valid, and gc removes those of dead processes.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <compat/regtab_file.h>

#include "regtab_fixture.h"

static char planted[512];

/* Makes a file with the name of a table: this content, then zeros up to length. */
static void plant(const void *content, size_t size, off_t length, mode_t mode)
{
	int fd;

	snprintf(planted, sizeof(planted), "%s/xrc-compat-%u-mlx4_0-plantd", tables_dir(), geteuid());
	fd = open(planted, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, size), size);
	assert_int_equal(ftruncate(fd, length) | fchmod(fd, mode), 0);
	close(fd);
}

static struct regtab_header valid_header(void)
{
	return (struct regtab_header){ .magic = REGTAB_MAGIC,
				       .version = REGTAB_VERSION,
				       .header_size = sizeof(struct regtab_header),
				       .key = domain_key(1),
				       .pid = 1,
				       .command = "planted" };
}

/*
 * A reader refuses the planted file, and its reason contains the file's name and @phrase. A writer
 * works as if the file were not there. gc removes the file if @removable.
 */
static void expect_refused(const char *phrase, bool removable)
{
	struct regtab_entry *entry = new_entry(1);
	struct seen seen;

	regtab_enter(entry, 7, true);
	seen = read_tables();
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.refused, 1);
	assert_int_equal(seen.tables, 1);
	assert_int_equal(seen.qps, 1);
	if (!strstr(seen.reason, planted) || !strstr(seen.reason, phrase))
		fail_msg("\"%s\" does not contain \"%s\"", seen.reason, phrase);
	regtab_free(entry);
	regtab_gc(tables_dir());
	assert_int_equal(count_files(NULL), !removable);
	unlink(planted);
	rmdir(planted);
}

TEST(other_content_is_refused)
{
	struct regtab_header header = valid_header();

	plant("what is this?", 13, 5000, 0600);
	expect_refused("not a registration table", false);
	plant(&header, 10, 10, 0600);
	expect_refused("too short", true);
	header.version++;
	plant(&header, sizeof(header), 5000, 0600);
	expect_refused("another version", true);
	header.version--;
	header.header_size = 0;
	plant(&header, sizeof(header), 5000, 0600);
	expect_refused("damaged", true);
}

TEST(a_file_with_too_many_qps_is_refused)
{
	struct regtab_header header = valid_header();
	char full[4096];
	int fd;

	plant(&header, sizeof(header), 4096, 0600);
	memset(full, 0xff, sizeof(full));
	fd = open(planted, O_WRONLY | O_APPEND | O_CLOEXEC);
	for (int i = 0; i < 100; i++)
		assert_int_equal(write(fd, full, sizeof(full)), sizeof(full));
	close(fd);
	expect_refused("more QPs", true);
}

TEST(a_file_that_other_users_may_access_is_refused)
{
	struct regtab_header header = valid_header();

	for (unsigned i = 0; i < 2; i++) {
		plant(&header, sizeof(header), 4096, i ? 0644 : 0620);
		expect_refused("others may read or write it", false);
	}
}

TEST(links_and_special_files_are_refused)
{
	struct regtab_found found = { .path = "/dev/null/below" };
	struct regtab_header header = valid_header();
	char elsewhere[512];

	plant(&header, sizeof(header), 4096, 0600);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", tables_dir());
	assert_int_equal(link(planted, elsewhere), 0);
	assert_true(read_tables().refused == 1);
	assert_non_null(strstr(read_tables().reason, "several names"));
	regtab_gc(tables_dir());
	assert_int_equal(access(planted, F_OK), 0);
	assert_int_equal(unlink(planted), 0);
	assert_int_equal(symlink(elsewhere, planted), 0);
	assert_non_null(strstr(read_tables().reason, "not a regular file"));
	assert_int_equal(unlink(elsewhere), 0);
	expect_refused("not a regular file", false);
	assert_int_equal(mkfifo(planted, 0600), 0);
	expect_refused("not a regular file", false);
	assert_int_equal(regtab_open_found(&found, O_RDWR), -ENOTDIR);
	assert_non_null(found.reason);
	assert_int_equal(mkdir(planted, 0700), 0);
	expect_refused("not a regular file", false);
}

/*
 * Exit status 0: the reader refuses root's file, shows the user's own, and gc leaves root's. 77: not
 * permitted.
 */
static int as_another_user(void)
{
	struct seen seen;
	struct regtab_entry *entry;
	char path[512];

	/*
	 * A reader other than root ignores files with another user's number in the name. The second
	 * file has the reader's number in its name, and belongs to root.
	 */
	snprintf(path, sizeof(path), "%s/xrc-compat-0-mlx4_0-others", tables_dir());
	close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	snprintf(path, sizeof(path), "%s/xrc-compat-65534-mlx4_0-plantd", tables_dir());
	close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	if (setgid(65534) || setuid(65534))
		return 77;
	entry = new_entry(1);
	regtab_enter(entry, 7, true);
	seen = read_tables();
	regtab_free(entry);
	regtab_gc(tables_dir());
	if (seen.refused != 1 || !strstr(seen.reason, "another user"))
		return 1;
	return seen.qps != 1 ? 2 : access(path, F_OK) ? 3 : 0;
}

TEST(a_file_of_another_user_is_refused)
{
	char path[512];
	int status;

	chmod(tables_dir(), 01777);
	status = in_child(as_another_user());
	chmod(tables_dir(), 0700);
	while (count_files(path))
		unlink(path);
	child_passed(status, "only root can become another user");
}

TEST(a_file_has_the_owners_rights_whatever_the_umask)
{
	mode_t before = umask(0777);
	struct regtab_entry *entry = new_entry(1);
	struct stat st = { 0 };
	char path[512];

	umask(before);
	count_files(path);
	stat(path, &st);
	assert_int_equal(st.st_mode & 07777, 0600);
	regtab_free(entry);
}

/* ---- gc ---- */

TEST(gc_removes_an_unfinished_file)
{
	for (off_t length = 0; length <= 4096; length += 4096) {
		plant("", 0, length, 0600);
		assert_int_equal(read_tables().refused, 0);
		assert_int_equal(read_tables().tables, 0);
		regtab_gc(tables_dir());
		assert_int_equal(count_files(NULL), 0);
	}
}

/* A process that starts tries the locks of at most 16 files (GC_LIMIT). */
TEST(the_first_entry_of_a_process_removes_at_most_16_files)
{
	struct regtab_header header = valid_header();
	char path[512];

	for (int i = 0; i < 100; i++) {
		plant(&header, sizeof(header), 4096, 0600);
		snprintf(path, sizeof(path), "%s/xrc-compat-%u-mlx4_0-dead%02d", tables_dir(),
			 geteuid(), i);
		assert_int_equal(rename(planted, path), 0);
	}
	assert_int_equal(in_child((regtab_free(new_entry(1)), regtab_free(new_entry(2)), 0)), 0);
	assert_int_equal(count_files(NULL), 84);
	while (count_files(path))
		unlink(path);
}

UNIT_MAIN(NULL, NULL)
