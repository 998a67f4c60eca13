/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A process is killed, or stopped, after each store and each system call of the library. A reader
 * sees only registrations that were made, and gc removes the files of a killed process. Another
 * process can join while one is stopped.
 */

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <compat/regtab_file.h>

#include "regtab_fixture.h"

static int points_left;
static int signal_at_point;	/* 0: run a gc */

void regtab_fault_point(void)
{
	if (!points_left || --points_left)
		return;
	if (signal_at_point)
		raise(signal_at_point);
	else
		regtab_gc(tables_dir());
}

#define HIGH 0x800000	/* on another page than QP 7 */

enum { SEES_7 = 1, SEES_HIGH = 2 };

/* What a reader sees at each fault point of a call. The process writes it before the call. */
static struct {
	bool live;		/* false: the file may be incomplete or removed */
	unsigned always;	/* QPs that are in the file at each of the points, */
	unsigned possible;	/* and at one point or more */
} *during;

static void expect(bool live, unsigned always, unsigned possible)
{
	during->live = live;
	during->always = always;
	during->possible = possible;
}

/* Calls every function that writes. The first entry also removes the file of a dead process. */
static void use_an_entry(void)
{
	struct regtab_entry *entry;
	struct regtab_news news;
	char path[512];

	expect(false, 0, 0);
	entry = new_entry(1);
	expect(true, 0, SEES_7);
	regtab_enter(entry, 7, true);
	expect(true, SEES_7, SEES_7 | SEES_HIGH);
	regtab_enter(entry, HIGH, false);
	expect(true, SEES_HIGH, SEES_HIGH);	/* the only fault point follows the store */
	regtab_drop(entry, 7);
	count_files(path);
	unlink(path);
	advance_a_second();
	expect(false, 0, 0);
	during->possible = SEES_HIGH;
	regtab_refresh(entry, &news);
	expect(false, 0, SEES_HIGH);
	regtab_free(entry);
}

static void check_qps(const struct seen *seen)
{
	unsigned found = 0;

	for (unsigned i = 0; i < seen->qps; i++) {
		assert_true(seen->qp[i] == 7 || seen->qp[i] == HIGH);
		found |= seen->qp[i] == 7 ? SEES_7 : SEES_HIGH;
	}
	assert_int_equal(found & ~during->possible, 0);
	assert_int_equal(during->always & ~found, 0);
}

/* Another process joins and reads although this one is stopped. */
static void join_beside_the_stopped(void)
{
	struct seen seen;

	alarm(10);
	regtab_free(new_entry(1));
	seen = read_tables();
	alarm(0);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.refused, 0);
	assert_true(during->live ? seen.live == 1 : seen.live <= 1);
	check_qps(&seen);
}

static void leave_a_file(void)
{
	new_entry(1);
	_exit(0);
}

/* Runs use_an_entry() in a child, with a signal at fault point n. False: it has fewer points. */
static bool run_to_point(int n, int signal_number)
{
	int status;
	pid_t pid;

	assert_int_equal(in_child((leave_a_file(), 0)), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(20);
		points_left = n;
		signal_at_point = signal_number;
		use_an_entry();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	if (WIFSTOPPED(status)) {
		join_beside_the_stopped();
		kill(pid, SIGCONT);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		return true;
	}
	if (!WIFSIGNALED(status)) {
		assert_int_equal(status, 0);
		return false;
	}
	assert_int_equal(WTERMSIG(status), signal_number);
	return true;
}

static void expect_only_dead_files(void)
{
	struct seen seen = read_tables();

	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.live, 0);
	assert_int_equal(seen.refused, 0);
	check_qps(&seen);
	regtab_gc(tables_dir());
	assert_int_equal(count_files(NULL), 0);
}

static void at_each_point(int signal_number)
{
	bool reached = true;
	int n = 0;

	during = mmap(NULL, sizeof(*during), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	assert_true(during != MAP_FAILED);
	while (reached) {
		reached = run_to_point(++n, signal_number);
		expect_only_dead_files();
	}
	assert_true(n > 20);
	print_message("%d fault points\n", n - 1);
}

TEST(killed_at_each_fault_point)
{
	at_each_point(SIGKILL);
}

TEST(stopped_at_each_fault_point)
{
	at_each_point(SIGSTOP);
}

/* Another process may run its gc before the new file is locked. */
TEST(a_file_removed_before_it_is_locked_is_made_again)
{
	struct regtab_entry *entry;

	points_left = 1;	/* the file has been created */
	signal_at_point = 0;
	entry = new_entry(1);
	assert_int_equal(points_left, 0);
	assert_int_equal(read_tables().live, 1);
	assert_int_equal(count_files(NULL), 1);
	regtab_free(entry);
}

UNIT_MAIN(NULL, NULL)
