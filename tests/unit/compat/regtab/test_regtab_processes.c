/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Processes that die, stop and fork, and processes in another pid namespace. */

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "regtab_fixture.h"

static void register_7(void *created)
{
	regtab_enter(new_entry(1), 7, created);
}

TEST(a_killed_process_is_stale_until_a_gc)
{
	pid_t creator = start_process(register_7, ""), other = start_process(register_7, NULL);
	struct seen seen = read_tables();

	assert_int_equal(seen.tables, 1);
	assert_int_equal(seen.live, 2);
	assert_int_equal(seen.registrants[0], 2);
	assert_int_equal(seen.live_qps, 1);
	assert_int_equal(seen.creator[0], creator);
	kill_process(creator);
	seen = read_tables();
	assert_int_equal(seen.members, 2);
	assert_int_equal(seen.live, 1);
	assert_int_equal(seen.live_qps, 1);
	kill_process(other);
	seen = read_tables();
	assert_int_equal(seen.members, 2);
	assert_int_equal(seen.live, 0);
	assert_int_equal(seen.qps, 1);
	assert_int_equal(seen.live_qps, 0);
	regtab_gc(tables_dir());
	assert_int_equal(count_files(NULL), 0);
}

/* ---- children ---- */

static pid_t *sleeping_child;	/* in memory that the processes share */

static void register_and_make_child(void *created)
{
	pid_t pid;

	register_7(created);
	pid = fork();
	if (!pid) {
		*sleeping_child = getpid();
		alarm(60);
		for (;;)
			pause();
	}
	while (pid > 0 && *(volatile pid_t *)sleeping_child != pid)
		usleep(1000);
}

TEST(a_sleeping_child_does_not_keep_the_registrations_of_its_dead_parent)
{
	pid_t pid;

	sleeping_child = mmap(NULL, sizeof(*sleeping_child), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = start_process(register_and_make_child, "");
	assert_int_equal(read_tables().live, 1);
	kill_process(pid);
	assert_int_equal(read_tables().live, 0);
	assert_true(*sleeping_child > 0);
	assert_int_equal(kill(*sleeping_child, SIGKILL), 0);
	regtab_gc(tables_dir());
	assert_int_equal(count_files(NULL), 0);
}

/*
 * Exit status 0: the library ignored all that the child did with its parent's entry, and the child
 * could make an entry of its own.
 */
static int use_as_a_child(struct regtab_entry *inherited)
{
	struct regtab_news news;
	struct regtab_entry *own;

	advance_a_second();
	regtab_refresh(inherited, &news);
	regtab_enter(inherited, 8, true);
	regtab_drop(inherited, 7);
	own = new_entry(2);
	regtab_enter(own, 9, true);
	if (read_tables().live != 2)
		return 1;
	regtab_refresh(inherited, &news);
	regtab_enter(inherited, 8, true);
	regtab_free(inherited);
	regtab_free(own);
	return 0;
}

TEST(a_child_changes_nothing_of_its_parent)
{
	struct regtab_entry *entry = new_entry(1);
	struct regtab_news news;
	struct seen seen;

	regtab_enter(entry, 7, true);
	assert_int_equal(in_child(use_as_a_child(entry)), 0);
	assert_int_equal(in_bare_child(use_as_a_child(entry)), 0);
	seen = read_tables();
	assert_int_equal(seen.live, 1);
	assert_int_equal(seen.qps, 1);
	assert_int_equal(seen.qp[0], 7);
	assert_int_equal(seen.creator[0], (uint32_t)getpid());
	advance_a_second();
	regtab_refresh(entry, &news);
	assert_null(news.lost);
	regtab_free(entry);
}

/* ---- namespaces ---- */

/* An ordinary user needs a user namespace. The tables in it must be those of the same user. */
static bool unshare_with_user(void)
{
	uid_t user = geteuid();
	FILE *map;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return false;
	map = fopen("/proc/self/uid_map", "w");
	return map && fprintf(map, "%u %u 1", user, user) > 0 && !fclose(map);
}

/* unshare() puts only later children into the new namespace. Returns 77 if it is not permitted. */
static int across_namespaces(void)
{
	struct seen seen;
	pid_t there;

	if (unshare(CLONE_NEWPID) && !unshare_with_user())
		return 77;
	there = start_process(register_7, "");
	/* read_tables() forks, so its reader is in the new namespace. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	seen = read_tables();
	if (seen.live != 1 || seen.foreign)
		return 1;
	regtab_gc(tables_dir());
	kill(there, SIGSTOP);
	return 0;
}

static void in_another_namespace(void *status)
{
	*(int *)status = across_namespaces();
}

TEST(processes_of_another_pid_namespace_are_seen_alive)
{
	int *status = mmap(NULL, sizeof(*status), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = start_process(in_another_namespace, status);
	struct seen seen = read_tables();

	if (*status != 77) {
		assert_int_equal(*status, 0);
		assert_int_equal(seen.live, 1);
		assert_int_equal(seen.foreign, 1);
		assert_int_equal(seen.live_qps, 1);
		regtab_gc(tables_dir());
		assert_int_equal(read_tables().live, 1);
	}
	kill_process(pid);
	while (read_tables().live)
		usleep(1000);
	regtab_gc(tables_dir());
	if (*status == 77)
		skip_because("no permission for another pid namespace");
}

UNIT_MAIN(NULL, NULL)
