/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Processes that die, stop and fork, processes of other users and in another pid namespace. */

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <table/own.h>

#include "regtab_fixture.h"

static void register_7(void *created)
{
	enter(1, 7, created);
}

TEST(a_killed_process_leaves_nothing)
{
	pid_t creator = start_process(register_7, ""), other = start_process(register_7, NULL);
	struct seen seen = read_tables();

	assert_int_equal(seen.tables, 1);
	assert_int_equal(seen.members, 2);
	assert_int_equal(seen.registrants[0], 2);
	assert_int_equal(seen.creator[0], creator);
	kill_process(creator);
	seen = read_tables();
	assert_int_equal(seen.members, 1);
	assert_int_equal(seen.creator[0], 0);
	kill_process(other);
	assert_int_equal(read_tables().members, 0);
}

TEST(a_stopped_process_is_read)
{
	pid_t pid = start_process(register_7, "");

	kill(pid, SIGSTOP);
	assert_int_equal(read_tables().qps, 1);
	kill_process(pid);
}

/* ---- children ---- */

static pid_t *child;	/* in memory that the processes share */

/* The child sleeps with its parent's descriptor, then with a table of its own. */
static void register_and_fork(void *own)
{
	int ready[2];
	pid_t pid;
	char byte;

	register_7("");
	if (pipe(ready))
		_exit(1);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, 0);
		regtab_forget();
		if (own)
			enter(1, 8, true);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		alarm(60);
		for (;;)
			pause();
	}
	*child = pid;
	if (read(ready[0], &byte, 1) != 1)
		_exit(1);
}

/* Descendants that are not children die a moment later, and the next test must not see them. */
static void wait_for_the_end_of_all(void)
{
	while (read_tables().members)
		usleep(1000);
}

TEST(a_child_counts_only_with_a_table_of_its_own)
{
	pid_t pid = start_process(register_and_fork, NULL);
	struct seen seen = read_tables();

	assert_int_equal(seen.members, 1);
	assert_int_equal(seen.pid, pid);
	kill_process(pid);
	assert_int_equal(read_tables().members, 0);
	kill(*child, SIGKILL);
	pid = start_process(register_and_fork, "");
	assert_int_equal(read_tables().members, 2);
	assert_int_equal(read_tables().registrations, 2);
	kill_process(pid);
	seen = read_tables();
	assert_int_equal(seen.members, 1);
	assert_int_equal(seen.pid, *child);
	assert_int_equal(seen.qp[0], 8);
	kill(*child, SIGKILL);
	wait_for_the_end_of_all();
}

/* ---- namespaces ---- */

static bool may_unshare;

/* An ordinary user needs a user namespace, in which it has the same id. */
static bool unshare_pids(void)
{
	uid_t user = geteuid();
	FILE *map;

	if (!unshare(CLONE_NEWPID))
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return false;
	map = fopen("/proc/self/uid_map", "w");
	return map && fprintf(map, "%u %u 1", user, user) > 0 && !fclose(map);
}

/* Process 1 of a namespace has a table. Its child is process 1 of another one. */
static void be_process_1(void *unused)
{
	register_7(unused);
	if (!unshare_pids())
		_exit(1);
	*child = start_process(register_7, NULL);
}

static void make_namespaces(void *unused)
{
	(void)unused;
	*(volatile bool *)&may_unshare = unshare_pids();
	*child = may_unshare ? start_process(be_process_1, NULL) : 0;
}

/* The child of process 1 has the descriptor of its parent, and the same id in its namespace. */
TEST(processes_of_other_pid_namespaces_have_a_pid_here)
{
	pid_t pid;
	struct seen seen;

	pid = start_process(make_namespaces, NULL);
	if (!*child) {
		kill_process(pid);
		skip_because("no permission for another pid namespace");
	}
	seen = read_tables();
	kill_process(pid);
	wait_for_the_end_of_all();
	assert_int_equal(seen.members, 2);
	assert_int_equal(seen.registrations, 2);
	assert_true(seen.pid > 1);
}

/* ---- users ---- */

static void register_as_another_user(void *dumpable)
{
	register_7("");
	if (setuid(12345) || prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0))
		_exit(1);
}

/* @user reads. */
static int members_for(uid_t user)
{
	if (setuid(user))
		return 99;
	return (int)read_tables().members;
}

TEST(the_kernel_decides_who_may_read)
{
	pid_t pid;

	if (geteuid())
		skip_because("only root can become another user");
	pid = start_process(register_as_another_user, "");
	assert_int_equal(read_tables().members, 1);
	assert_int_equal(in_child(members_for(12345)), 1 << 8);
	assert_int_equal(in_child(members_for(23456)), 0);
	kill_process(pid);
	pid = start_process(register_as_another_user, NULL);
	assert_int_equal(read_tables().members, 1);
	assert_int_equal(in_child(members_for(12345)), 0);
	kill_process(pid);
}

FIXTURE(setup)
{
	child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return child == MAP_FAILED;
}

UNIT_MAIN(setup, NULL)
