/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Processes that die, stop, fork and end, of other users, and in another pid namespace. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <table/own.h>
#include <table/view.h>

#include "regtab_fixture.h"
#include "../common/child.h"

static void register_7(void *created)
{
	enter(1, 7, created);
}

TEST(a_killed_process_leaves_nothing)
{
	pid_t creator, other;
	struct seen seen;

	skip_by_qemu_user();
	creator = start_process(register_7, "");
	other = start_process(register_7, NULL);
	seen = read_tables();
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
	pid_t pid;

	skip_by_qemu_user();
	pid = start_process(register_7, "");
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
	struct seen seen;
	pid_t pid;

	skip_by_qemu_user();
	pid = start_process(register_and_fork, NULL);
	seen = read_tables();
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
	*child = unshare_pids() ? start_process(be_process_1, NULL) : 0;
}

/* The child of process 1 has the descriptor of its parent, and the same id in its namespace. */
TEST(processes_of_other_pid_namespaces_have_a_pid_here)
{
	pid_t pid;
	struct seen seen;

	skip_by_qemu_user();
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

	skip_by_qemu_user();
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

/* With @free descriptors: 0 if the table of that process is read, 1 if it is not, or an errno. */
static int read_with(int free, pid_t pid)
{
	struct rlimit limit = { (rlim_t)(3 + free), (rlim_t)(3 + free) };
	struct regtab_view all;
	bool found = false;
	int err;

	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	setrlimit(RLIMIT_NOFILE, &limit);
	err = regtab_read(&all);
	for (unsigned i = 0; !err && i < all.member_count; i++)
		found |= all.members[i].pid == pid;
	return err ? -err : !found;
}

TEST(a_reader_without_descriptors_leaves_no_table_out)
{
	pid_t pid;

	skip_by_qemu_user();
	pid = start_process(register_7, "");
	for (int free = 0; free < 4; free++)
		assert_int_equal(in_child(read_with(free, pid)), EMFILE << 8);
	assert_int_equal(in_child(read_with(4, pid)), 0);
	kill_process(pid);
}

/* ---- ended processes ---- */

static bool is_in_view(pid_t pid)
{
	struct regtab_view all;
	bool found = false;

	if (regtab_read(&all))
		abort();
	for (unsigned i = 0; i < all.member_count; i++)
		found |= all.members[i].pid == pid;
	regtab_free(&all);
	return found;
}

static void *sleep_a_minute(void *unused)
{
	sleep(60);
	return unused;
}

/* The first thread ends, and the process does not if it has @another one. A sanitizer adds one. */
static pid_t end_first_thread(bool another)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid)
		return pid;
	alarm(60);
	if (!another || pthread_create(&thread, NULL, sleep_a_minute, NULL))
		_exit(1);
	syscall(SYS_exit, 0);
	_exit(1);
}

static void wait_for_the_end_of_first_thread(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (state != 'Z') {
		file = fopen(path, "r");
		if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
			abort();
		fclose(file);
	}
}

/* For root the kernel hides no process. */
static int sees_child(bool another)
{
	siginfo_t info;
	bool seen;
	pid_t pid;

	if (!geteuid() && (setuid(12345) || prctl(PR_SET_DUMPABLE, 1)))
		return 99;
	pid = end_first_thread(another);
	if (another)
		wait_for_the_end_of_first_thread(pid);
	else if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		return 99;
	seen = is_in_view(pid);
	kill_process(pid);
	return seen;
}

/* An ended process stays in /proc until its parent waits for it, but has no descriptors. */
TEST(an_ended_process_is_left_out)
{
	skip_by_qemu_user();
	assert_int_equal(in_child(sees_child(false)), 0);
}

TEST(a_process_without_its_first_thread_is_unread)
{
	skip_by_qemu_user();
	assert_int_equal(in_child(sees_child(true)), 1 << 8);
}

FIXTURE(setup)
{
	child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return child == MAP_FAILED;
}

UNIT_MAIN(setup, NULL)
