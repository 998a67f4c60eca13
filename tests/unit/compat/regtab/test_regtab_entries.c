/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The content of an entry's file, the new file that replaces a lost one, and threads. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regtab_fixture.h"

TEST(registrations_are_entered_and_dropped)
{
	/* 0x48 to 0x4a are neighbours in one word. */
	static const uint32_t numbers[] = { 1, 0x48, 0x49, 0x4a, 0x3fff, 0x4000, 0x800001,
					    0xffffff };
	struct regtab_entry *entry = new_entry(1);
	struct seen seen;

	for (unsigned i = 0; i < 8; i++)
		regtab_enter(entry, numbers[i], i % 2);
	seen = read_tables();
	assert_int_equal(seen.qps, 8);
	assert_int_equal(seen.registrations, 8);
	assert_int_equal(seen.live_qps, 8);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(seen.qp[i], numbers[i]);
		assert_int_equal(seen.creator[i], i % 2 ? getpid() : 0);
	}
	for (unsigned i = 0; i < 8; i += 2)
		regtab_drop(entry, numbers[i]);
	regtab_drop(entry, 0x123456);	/* it was never entered */
	seen = read_tables();
	assert_int_equal(seen.qps, 4);
	assert_int_equal(seen.qp[0], 0x48);
	assert_int_equal(seen.qp[1], 0x4a);
	assert_int_equal(seen.qp[2], 0x4000);
	assert_int_equal(seen.qp[3], 0xffffff);
	regtab_free(entry);
}

TEST(entries_of_one_domain_are_one_table)
{
	struct regtab_entry *one = new_entry(1), *two = new_entry(1), *other = new_entry(2);
	struct seen seen;

	regtab_enter(one, 7, true);
	regtab_enter(two, 7, false);
	regtab_enter(other, 7, false);
	seen = read_tables();
	assert_int_equal(seen.tables, 2);
	assert_int_equal(seen.live, 3);
	assert_int_equal(seen.qps, 2);
	assert_int_equal(seen.registrations, 3);
	assert_true(seen.registrants[0] + seen.registrants[1] == 3);
	regtab_free(one);
	assert_int_equal(read_tables().registrations, 2);
	regtab_free(two);
	regtab_free(other);
}

/* ---- lost files ---- */

/* The new file has all registrations, @qps. */
static void expect_replaced(struct regtab_entry *entry, const char *why, unsigned qps)
{
	struct regtab_news news;

	regtab_refresh(entry, &news);	/* it looks for the file once a second */
	assert_null(news.lost);
	advance_a_second();
	regtab_refresh(entry, &news);
	assert_int_equal(news.err, 0);
	assert_non_null(strstr(news.lost, why));
	assert_int_equal(read_tables().live_qps, qps);
	advance_a_second();
	regtab_refresh(entry, &news);
	assert_int_equal(news.err, 0);
	assert_null(news.lost);
}

TEST(another_file_of_that_name_is_not_removed)
{
	struct regtab_entry *entry = new_entry(1);
	char path[512];

	count_files(path);
	assert_int_equal(unlink(path), 0);
	close(open(path, O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	regtab_free(entry);
	assert_int_equal(unlink(path), 0);
}

/* The descriptor of the one file in the directory. */
static int descriptor(void)
{
	char path[512], link[64], target[512];

	count_files(path);
	for (int fd = 0; fd < 1024; fd++) {
		ssize_t length;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = 0;
		if (!strcmp(target, path))
			return fd;
	}
	return -1;
}

TEST(a_closed_descriptor_is_replaced)
{
	struct regtab_entry *entry = new_entry(1);

	regtab_enter(entry, 7, true);
	close(descriptor());
	assert_int_equal(read_tables().live, 0);
	regtab_enter(entry, 0x800000, false);
	expect_replaced(entry, "closed its descriptor", 2);
	assert_int_equal(count_files(NULL), 1);
	regtab_free(entry);
}

/* If a program's file has the table's descriptor, the library does not write or close it. */
TEST(a_descriptor_taken_by_the_program_is_left_alone)
{
	struct regtab_entry *entry = new_entry(1);
	char name[] = "/tmp/regtab-program-XXXXXX";
	int own = descriptor(), fd = mkstemp(name);
	struct stat st;

	regtab_enter(entry, 7, true);
	assert_int_equal(dup2(fd, own), own);
	for (uint32_t i = 1; i < 64; i++)
		regtab_enter(entry, i << 16, false);
	expect_replaced(entry, "closed its descriptor", 64);
	close(fd);
	regtab_free(entry);
	assert_int_equal(fstat(own, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(own);
	unlink(name);
}

TEST(a_truncated_file_is_written_on)
{
	struct regtab_entry *entry = new_entry(1);
	char path[512];

	regtab_enter(entry, 7, true);
	count_files(path);
	assert_int_equal(truncate(path, 0), 0);
	regtab_enter(entry, 8, true);
	regtab_drop(entry, 7);
	assert_int_equal(read_tables().live, 0);
	regtab_free(entry);
}

TEST(a_relative_directory_is_refused)
{
	int err;
	struct regtab_entry *entry = try_entry("tmp", &err);

	assert_int_equal(err, -EINVAL);
	regtab_free(entry);
}

/* ---- threads ---- */

#define THREADS	8u
#define ROUNDS	50000u

static struct regtab_entry *shared;

/* Now and then it makes an entry of its own. Its QP stays registered. */
static void *use(void *number)
{
	uint32_t qp_num = (uint32_t)(uintptr_t)number;
	struct regtab_news news;

	for (unsigned i = 0; i < ROUNDS; i++) {
		regtab_refresh(shared, &news);
		regtab_drop(shared, qp_num);
		if (i % 5000 == 0) {
			advance_a_second();
			regtab_free(new_entry(2));
		}
		regtab_enter(shared, qp_num, true);
	}
	return NULL;
}

/* The numbers of all threads are in one word of the file. */
TEST(threads_do_not_lose_each_others_registrations)
{
	pthread_t threads[THREADS];

	shared = new_entry(1);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use, (void *)(16 + i)), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(read_tables().qps, THREADS);
	regtab_free(shared);
}

UNIT_MAIN(NULL, NULL)
