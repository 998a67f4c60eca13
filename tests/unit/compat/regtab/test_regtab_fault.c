/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A process is killed, or stopped, after each store and each system call of the library. What it
 * leaves blocks no other process. Readers see no registration that nobody made. A gc removes all
 * that is left.
 */

#define UNIT_SETUP room_setup
#define UNIT_TEARDOWN room_teardown

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <compat/regtab_file.h>

#include "../../unit.h"
#include "regtab_room.h"

static int countdown, fatal_signal;	/* 0: a gc, in place of a signal */

void regtab_fault_point(void)
{
	if (!countdown || --countdown)
		return;
	if (fatal_signal)
		raise(fatal_signal);
	else
		regtab_gc(room_dir());
}

/* All that the library does, with a gc of a dead file at the beginning. */
static void life(void)
{
	struct regtab_entry *entry = room_join(1);
	struct regtab_news news;
	char path[512];

	regtab_enter(entry, 7, true);
	regtab_enter(entry, 0x800000, false);
	regtab_drop(entry, 7);
	room_files(path);
	unlink(path);
	room_pass_a_second();
	regtab_refresh(entry, &news);
	regtab_enter(entry, 0x800000, false);
	regtab_free(entry);
}

static void leave_one(void)
{
	room_join(1);
	_exit(0);
}

/* Returns false if the life has fewer than n fault points. */
static bool end_at(int n, int signal_number)
{
	int status;
	pid_t pid;

	assert_int_equal(in_child((leave_one(), 0)), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(20);
		countdown = n;
		fatal_signal = signal_number;
		life();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	if (WIFSTOPPED(status)) {
		alarm(10);
		regtab_free(room_join(1));	/* joins although the other process is stopped */
		assert_int_equal(room_look().result, 0);
		alarm(0);
		kill(pid, SIGCONT);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		return true;
	}
	return WIFSIGNALED(status);
}

static void is_clean(void)
{
	struct seen seen = room_look();

	assert_true(seen.result == 0 && seen.live == 0 && seen.refused == 0);
	for (unsigned i = 0; i < seen.qps; i++)
		assert_true(seen.qp[i] == 7 || seen.qp[i] == 0x800000);
	assert_int_equal(in_child((regtab_gc(room_dir()), 0)), 0);
	assert_int_equal(room_files(NULL), 0);
}

static void everywhere(int signal_number)
{
	int n = 1;

	while (end_at(n, signal_number)) {
		is_clean();
		n++;
	}
	is_clean();
	assert_true(n > 20);
	print_message("%d fault points\n", n - 1);
}

TEST(killed_everywhere)
{
	everywhere(SIGKILL);
}

TEST(stopped_everywhere)
{
	everywhere(SIGSTOP);
}

/* The gc of another process may come before the new file is locked. */
TEST(a_file_removed_before_it_is_locked_is_made_again)
{
	struct regtab_entry *entry;

	countdown = 1;	/* the file has been created */
	fatal_signal = 0;
	entry = room_join(1);
	assert_int_equal(countdown, 0);
	assert_true(room_look().live == 1 && room_files(NULL) == 1);
	regtab_free(entry);
}

UNIT_MAIN(NULL, NULL)
