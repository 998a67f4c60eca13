/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opening a table while others open, close and look into it. */

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/regtab/tab.h>

#include "../../unit.h"
#include "actor.h"
#include "table.h"

/* ---- opening against closing ---- */

static bool name_is_of_an_open_table(void)
{
	struct registry *registry = regtab_registry_lock();
	struct stat st;
	bool open = !stat(table_path, &st) && regtab_file_of_process(registry, st.st_dev, st.st_ino) >= 0;

	regtab_registry_unlock(registry);
	return open;
}

/* While a process has the table open, the name leads to the file that it has open: so all have the same one. */
static int come_and_go(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		struct regtab_member *member;
		struct regtab *tab;

		if (table_open(&tab, NULL))
			return 1;
		if (!name_is_of_an_open_table())
			return 2;
		if (regtab_join(tab, "test", &member))
			return 3;
		if (i % 3 == 0)
			sched_yield();
		if (!name_is_of_an_open_table())
			return 4;
		regtab_leave(member);
		regtab_close(tab);
	}
	return 0;
}

TEST(many_come_and_go)
{
	pid_t pids[6];
	int status;

	for (int i = 0; i < 6; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			alarm(30);
			_exit(come_and_go(500));
		}
	}
	for (int i = 0; i < 6; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(access(table_path, F_OK), -1);
}

/* ---- cleaning up against opening, in two threads ---- */

static bool enough;

static void *clean_up(void *arg)
{
	while (!__atomic_load_n(&enough, __ATOMIC_ACQUIRE))
		regtab_gc(actor_dir(), false, NULL, NULL);
	return arg;
}

/* A process that has the table open says whether the lock of a member is held. */
static void tell_of_locks(int in, int out)
{
	struct regtab_member *member;
	struct regtab *tab;
	unsigned index = 0;
	bool held = true;

	alarm(60);
	if (table_open(&tab, NULL) || regtab_join(tab, "witness", &member))
		_exit(1);
	do	/* its own is number 0, of which it is not asked */
		held = !index || regtab_lock_holder(tab->file.own.fd, LOCK_MEMBER(index)) == F_WRLCK;
	while (write(out, &held, sizeof(held)) == sizeof(held) && read(in, &index, sizeof(index)) == sizeof(index));
	_exit(0);
}

static bool lock_is_held(const int witness[2], unsigned index)
{
	bool held = false;

	return write(witness[1], &index, sizeof(index)) == sizeof(index) &&
	       read(witness[0], &held, sizeof(held)) == sizeof(held) && held;
}

static unsigned members_without_lock(const int witness[2])
{
	unsigned without = 0;

	for (int i = 0; i < 2000; i++) {
		struct regtab_member *member;
		struct regtab *tab;

		assert_int_equal(table_open(&tab, NULL), 0);
		assert_int_equal(regtab_join(tab, "test", &member), 0);
		without += !lock_is_held(witness, member->index);
		regtab_leave(member);
		regtab_close(tab);
	}
	return without;
}

TEST(cleaning_up_takes_no_locks_away)
{
	int to_witness[2], from_witness[2], status;
	pthread_t thread;
	bool ready;
	pid_t pid;

	assert_int_equal(pipe(to_witness) | pipe(from_witness), 0);
	pid = fork();
	if (!pid)
		tell_of_locks(to_witness[0], from_witness[1]);
	assert_int_equal(read(from_witness[0], &ready, sizeof(ready)), sizeof(ready));
	__atomic_store_n(&enough, false, __ATOMIC_RELEASE);
	assert_int_equal(pthread_create(&thread, NULL, clean_up, NULL), 0);
	assert_int_equal(members_without_lock((int[2]){ from_witness[0], to_witness[1] }), 0);
	__atomic_store_n(&enough, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(to_witness[0]);
	close(to_witness[1]);
	close(from_witness[0]);
	close(from_witness[1]);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, table_setup, table_teardown)

UNIT_MAIN(NULL, NULL,
	CASE(many_come_and_go), CASE(cleaning_up_takes_no_locks_away))
