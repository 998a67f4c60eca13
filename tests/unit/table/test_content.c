/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The content of a table, its growth, and its memory file. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <table/own.h>

#define UNIT_SETUP begin

#include "regtab_fixture.h"
#include "../common/child.h"

/* Each test begins without a table, as a child does, and without an earlier one. */
FIXTURE(begin)
{
	for (int fd = 100; fd < 1024; fd++)
		close(fd);
	regtab_forget();
	return 0;
}

TEST(registrations_are_entered_and_dropped)
{
	static const uint32_t numbers[] = { 2, 0x48, 0x49, 0x3fff, 0x800001, 0xffffff };
	struct regtab_key key = domain_key(1);
	int places[6], domain = regtab_open(&key);
	struct seen seen;

	assert_int_equal(regtab_show(), 0);
	for (unsigned i = 0; i < 6; i++)
		places[i] = regtab_enter(domain, numbers[i], i % 2);
	seen = read_tables();
	assert_int_equal(seen.tables, 1);
	assert_int_equal(seen.registrations, 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(seen.qp[i], numbers[i]);
		assert_int_equal(seen.creator[i], i % 2 ? getpid() : 0);
	}
	for (unsigned i = 0; i < 6; i += 2)
		regtab_drop(places[i]);
	seen = read_tables();
	assert_int_equal(seen.qps, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(seen.qp[i], numbers[2 * i + 1]);
		assert_int_equal(seen.creator[i], getpid());
	}
	regtab_close(domain);
	assert_int_equal(read_tables().tables, 0);
}

TEST(opened_devices_with_one_domain_are_one_table)
{
	enter(1, 7, true);
	enter(1, 7, false);
	enter(2, 7, false);
	assert_int_equal(read_tables().tables, 2);
	assert_int_equal(read_tables().members, 3);
	assert_int_equal(read_tables().qps, 2);
	assert_int_equal(read_tables().registrations, 3);
}

TEST(a_full_table_is_replaced_by_a_larger_one)
{
	struct regtab_key key = domain_key(1);
	int domain = regtab_open(&key);
	struct seen seen;

	for (uint32_t i = 0; i < 5 * REGTAB_PLACES_MIN; i++) {
		assert_int_not_equal(regtab_enter(domain, 64 + i, false), REGTAB_NONE);
		assert_int_equal(regtab_show(), 0);
	}
	seen = read_tables();
	assert_int_equal(seen.members, 1);
	assert_int_equal(seen.qps, 5 * REGTAB_PLACES_MIN);
	assert_int_equal(seen.qp[9], 73);
}

TEST(registrations_without_a_place_are_counted)
{
	struct regtab_key key = domain_key(1);
	int domain = regtab_open(&key), place;

	for (uint32_t i = 0; i < REGTAB_PLACES_MAX; i++)
		assert_int_not_equal(regtab_enter(domain, i % 1000, false), REGTAB_NONE);
	assert_int_equal(regtab_show(), 0);
	place = regtab_enter(domain, 5, false);
	assert_int_equal(place, REGTAB_NONE);
	assert_int_equal(read_tables().missing, 1);
	regtab_drop(place);
	assert_int_equal(read_tables().missing, 0);
	for (unsigned i = 1; i < REGTAB_DOMAINS; i++)
		assert_int_not_equal(regtab_open(&key), REGTAB_NONE);
	assert_int_equal(regtab_open(&key), REGTAB_NONE);
	regtab_close(REGTAB_NONE);
	assert_int_equal(regtab_enter(REGTAB_NONE, 5, false), REGTAB_NONE);
}

TEST(registrations_are_counted_before_there_is_memory_for_a_table)
{
	struct regtab_key key = domain_key(1);
	struct rlimit limit, none;
	int place;

	skip_by_qemu_user();
	getrlimit(RLIMIT_AS, &limit);
	none = (struct rlimit){ 0, limit.rlim_max };
	setrlimit(RLIMIT_AS, &none);
	assert_int_equal(regtab_open(&key), REGTAB_NONE);
	setrlimit(RLIMIT_AS, &limit);
	place = regtab_enter(REGTAB_NONE, 5, false);
	enter(1, 7, true);
	assert_int_equal(read_tables().missing, 1);
	regtab_drop(place);
	assert_int_equal(read_tables().missing, 0);
}

/* ---- the memory file ---- */

static int descriptor(void)
{
	return atoi(strrchr(read_tables().path, '/') + 1);
}

TEST(others_cannot_truncate_it)
{
	int fd;

	enter(1, 7, true);
	fd = open(read_tables().path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(fd, 1 << 24), -1);
	close(fd);
	assert_true(descriptor() > 100);
	assert_int_equal(fcntl(descriptor(), F_GETFD), FD_CLOEXEC);
}

/* As a child can that has become another user and has the descriptor still. */
TEST(what_others_write_into_it_misleads_only_readers)
{
	struct regtab_file *theirs;
	int fd, place;

	place = enter(1, 7, true);
	fd = open(read_tables().path, O_RDWR);
	theirs = mmap(NULL, regtab_size(REGTAB_PLACES_MIN), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	assert_true(theirs != MAP_FAILED);
	memset(theirs, 0xff, regtab_size(REGTAB_PLACES_MIN));
	assert_int_equal(enter(1, 8, false), place + 1);
	assert_int_equal(theirs->places[place + 1] & 0xffffff, 8);
	regtab_drop(place + 1);
	assert_int_equal(theirs->places[place + 1], 0);
	munmap(theirs, regtab_size(REGTAB_PLACES_MIN));
	close(fd);
}

TEST(a_closed_descriptor_is_replaced)
{
	enter(1, 7, true);
	close(descriptor());
	assert_int_equal(read_tables().members, 0);
	assert_int_equal(regtab_show(), 0);
	assert_int_equal(read_tables().qps, 1);
	close(descriptor());
	enter(1, 8, false);
	assert_int_equal(read_tables().members, 2);
	assert_int_equal(read_tables().qps, 2);
}

/* If a program's file has the table's number, the library does not write or close it. */
TEST(a_descriptor_taken_by_the_program_is_left_alone)
{
	char name[] = "/tmp/table-program-XXXXXX";
	int fd = mkstemp(name), own;
	struct stat st;

	enter(1, 7, true);
	own = descriptor();
	assert_int_equal(dup2(fd, own), own);
	for (uint32_t i = 0; i < 2 * REGTAB_PLACES_MIN; i++)
		enter(1, 0x1000 + i, false);
	assert_int_equal(fstat(own, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(own);
	close(fd);
	unlink(name);
}

/* In the child: shows the table below a limit. */
static int show_below(__rlimit_resource_t resource, rlim_t limit)
{
	struct rlimit lowered = { limit, limit };

	setrlimit(resource, &lowered);
	return -regtab_show();
}

/* In the child: shows the table where no high number is free. */
static int show_crowded(void)
{
	for (int fd = 32; fd < 64; fd++)
		dup2(STDERR_FILENO, fd);
	return show_below(RLIMIT_NOFILE, 64);
}

TEST(it_keeps_to_the_limits_of_the_process)
{
	struct regtab_key key = domain_key(1);

	regtab_open(&key);
	assert_int_equal(in_child(show_below(RLIMIT_FSIZE, 4096)), EFBIG << 8);
	assert_int_equal(in_child(show_below(RLIMIT_NOFILE, 3)), EMFILE << 8);
	assert_int_equal(in_child(show_below(RLIMIT_NOFILE, 64)), 0);
	assert_int_equal(in_child(show_crowded()), 0);
}

/* ---- files that are no tables ---- */

struct forgery {
	uint64_t magic, layout;
	uint32_t place_count;
	unsigned int seals;
};

static void hold_forgery(void *arg)
{
	const struct forgery *forgery = arg;
	struct regtab_file file = { .magic = forgery->magic,
				    .layout = forgery->layout,
				    .place_count = forgery->place_count,
				    .pid = (uint32_t)getpid(),
				    .domains[0] = { domain_key(1), 1 } };
	int fd = memfd_create(REGTAB_NAME, MFD_ALLOW_SEALING);

	if (ftruncate(fd, (off_t)regtab_size(REGTAB_PLACES_MIN)) ||
	    pwrite(fd, &file, sizeof(file), 0) != sizeof(file) ||
	    fcntl(fd, F_ADD_SEALS, forgery->seals))
		_exit(1);
}

TEST(a_forged_table_is_refused_with_a_reason)
{
	static const struct {
		struct forgery forgery;
		const char *reason;
	} rows[] = {
		{ { 1, REGTAB_LAYOUT, REGTAB_PLACES_MIN, F_SEAL_SHRINK | F_SEAL_GROW },
		  "not a registration table" },
		{ { REGTAB_MAGIC, 1, REGTAB_PLACES_MIN, F_SEAL_SHRINK | F_SEAL_GROW },
		  "another version" },
		{ { REGTAB_MAGIC, REGTAB_LAYOUT, REGTAB_PLACES_MIN, F_SEAL_SHRINK }, "not sealed" },
		{ { REGTAB_MAGIC, REGTAB_LAYOUT, 7, F_SEAL_SHRINK | F_SEAL_GROW }, "size" },
		{ { REGTAB_MAGIC, REGTAB_LAYOUT, UINT32_MAX, F_SEAL_SHRINK | F_SEAL_GROW }, "size" },
	};
	struct forgery good = { REGTAB_MAGIC, REGTAB_LAYOUT, REGTAB_PLACES_MIN,
				F_SEAL_SHRINK | F_SEAL_GROW };
	pid_t pid = start_process(hold_forgery, &good);

	assert_int_equal(read_tables().members, 1);
	kill_process(pid);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct forgery forgery = rows[i].forgery;
		struct seen seen;

		pid = start_process(hold_forgery, &forgery);
		seen = read_tables();
		kill_process(pid);
		assert_int_equal(seen.members, 0);
		assert_int_equal(seen.refused, 1);
		assert_non_null(strstr(seen.reason, rows[i].reason));
	}
}

static bool seals_are_hidden;

/* In place of the C library's, also for table/. A sandbox may refuse the command. */
int fcntl(int fd, int command, ...)
{
	va_list arguments;
	long argument;

	va_start(arguments, command);
	argument = va_arg(arguments, long);
	va_end(arguments);
	if (command == F_GET_SEALS && seals_are_hidden) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

TEST(a_table_with_unknown_seals_is_refused)
{
	struct forgery good = { REGTAB_MAGIC, REGTAB_LAYOUT, REGTAB_PLACES_MIN,
				F_SEAL_SHRINK | F_SEAL_GROW };
	pid_t pid = start_process(hold_forgery, &good);
	struct seen seen;

	seals_are_hidden = true;
	seen = read_tables();
	seals_are_hidden = false;
	kill_process(pid);
	assert_int_equal(seen.members, 0);
	assert_non_null(strstr(seen.reason, "not sealed"));
}

/* The magic is written last. */
TEST(a_table_that_is_being_made_is_passed_over)
{
	struct forgery unfinished = { 0, REGTAB_LAYOUT, REGTAB_PLACES_MIN, 0 };
	pid_t pid = start_process(hold_forgery, &unfinished);
	struct seen seen = read_tables();

	kill_process(pid);
	assert_int_equal(seen.members, 0);
	assert_int_equal(seen.refused, 0);
}

UNIT_MAIN(NULL, NULL)
