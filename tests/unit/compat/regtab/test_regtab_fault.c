/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A process dies, or stops, after its n-th store to the table, for every n: the survivor has a consistent table.
 *
 * Built with the library's fault points: after each store, each lock, each change of the file.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/owner/owner.h>
#include <compat/regtab/layout.h>

#include "../../unit.h"
#include "actor.h"
#include "survivor.h"

/* What takes longer is a hang, on however busy a machine. */
#define HANG_SECONDS	60

/* ---- the fault ---- */

static unsigned long fault_at, fault_count;
static int fault_signal;

void regtab_fault_point(void)
{
	if (fault_at && __atomic_add_fetch(&fault_count, 1, __ATOMIC_RELAXED) == fault_at)
		raise(fault_signal);
}

/* ---- what the victim does ---- */

static int suffer_members(struct regtab *tab, struct regtab_member *member, struct regtab_member *second)
{
	bool last = false;

	MUST(regtab_add(member, OWN, REGTAB_BY_KERNEL));
	MUST(regtab_add(member, OWNED, REGTAB_BY_OWNER));
	MUST(regtab_register(member, SHARED));
	MUST(regtab_register(second, SHARED));
	MUST(regtab_register(second, OWN));
	MUST(regtab_register(second, OWNED));
	MUST(regtab_register(second, SERVED));
	MUST(regtab_unregister(member, SHARED, &last));
	MUST(regtab_unregister(member, OWN, &last));
	MUST(regtab_unregister(second, OWN, &last));
	MUST(!last && fault_signal != SIGSTOP);	/* after a stop here it may find that somebody else has ended the entry */
	MUST(regtab_unregister(member, OWNED, &last));
	MUST(regtab_unregister(second, OWNED, NULL));	/* retires it */
	MUST(regtab_add(member, REPLACED, REGTAB_BY_KERNEL));
	MUST(ask_served(second));
	MUST(regtab_reap(tab) < 0);
	for (unsigned i = 0; i < CROWD_SIZE; i++)
		MUST(regtab_add(member, crowded(i), REGTAB_BY_KERNEL));
	return 0;
}

static int suffer(void)
{
	struct regtab_key key = actor_key(1);
	struct regtab_member *member, *second;
	struct regtab *tab;

	MUST(regtab_open(&key, actor_dir(), &tab, NULL));
	MUST(regtab_join(tab, "victim", &member));
	MUST(regtab_join(tab, "victim's second", &second));
	MUST(suffer_members(tab, member, second));
	regtab_leave(second);
	regtab_leave(member);
	regtab_close(tab);
	return 0;
}

/* Alone: it makes the table, and removes it. */
static int suffer_alone(void)
{
	struct regtab_key key = actor_key(1);
	struct regtab_member *member;
	struct regtab *tab;

	MUST(regtab_open(&key, actor_dir(), &tab, NULL));
	MUST(regtab_join(tab, "victim", &member));
	MUST(regtab_add(member, OWN, REGTAB_BY_KERNEL));
	regtab_leave(member);
	regtab_close(tab);
	return 0;
}

struct served {
	int questions;
	int retired;
};

static int answer_pong(void *context, uint32_t qp_num, const void *request, size_t len, void *answer, size_t *answer_len)
{
	struct served *served = context;

	(void)qp_num;
	served->questions++;
	memcpy(answer, request, len);
	*answer_len = len;
	return 0;
}

static void count_retired(void *context, uint32_t qp_num)
{
	struct served *served = context;

	(void)qp_num;
	served->retired++;
}

/* As an owner: answers one question, and destroys the QP when its last registrant has left. */
static int suffer_serving(void)
{
	static const struct owner_service service = { answer_pong, count_retired };
	struct regtab_key key = actor_key(1);
	struct regtab_member *member;
	struct served served = { 0, 0 };
	struct owner *owner;
	struct regtab *tab;
	bool last;

	MUST(regtab_open(&key, actor_dir(), &tab, NULL));
	MUST(regtab_join(tab, "victim", &member));
	MUST(owner_open(member, &owner));
	MUST(regtab_add(member, OWNED, REGTAB_BY_OWNER));
	while (!served.retired) {
		MUST(owner_serve(owner, &service, &served, 500) < 0);
		/* Now only the other keeps it, or it is ours to destroy. */
		if (served.questions && !regtab_unregister(member, OWNED, &last))
			served.retired += last;
	}
	MUST(served.questions != 1);
	MUST(served.retired != 1);
	owner_close(owner);
	regtab_leave(member);
	regtab_close(tab);
	return 0;
}

static pid_t victim_start(int (*what)(void), unsigned long at, int with_signal)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fault_at = at;
	fault_signal = with_signal;
	_exit(what());
}

static unsigned long run_all(int with_signal)
{
	for (unsigned long n = 1; ; n++) {
		struct survivor survivor;
		bool hit;
		int status;
		pid_t pid;

		alarm(HANG_SECONDS);
		survivor_start(&survivor);
		pid = victim_start(suffer, n, with_signal);
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		hit = WIFSTOPPED(status) || WIFSIGNALED(status);
		if (WIFSTOPPED(status)) {
			survivor_check_beside(&survivor);
			kill(pid, SIGCONT);
			assert_int_equal(waitpid(pid, &status, 0), pid);
		}
		if (WIFEXITED(status))
			assert_int_equal(WEXITSTATUS(status), 0);
		survivor_check(&survivor, n);
		survivor_end(&survivor);
		alarm(0);
		if (!hit)
			return n - 1;
	}
}

TEST(dies_at_every_store)
{
	unsigned long points = run_all(SIGKILL);

	print_message("%lu fault points\n", points);
	assert_true(points > 100);
}

TEST(stops_at_every_store)
{
	unsigned long points = run_all(SIGSTOP);

	print_message("%lu fault points\n", points);
	assert_true(points > 100);
}

/* Asks the victim, then unregisters. Any result is right as long as it comes in time. */
static void question(struct survivor *survivor, pid_t victim)
{
	char answer[8];
	size_t len = sizeof(answer);
	siginfo_t info = { .si_pid = 0 };
	int error = -EINVAL;

	while (error == -EINVAL && !info.si_pid) {
		error = regtab_register(survivor->second, OWNED);
		usleep(200);
		waitid(P_PID, (id_t)victim, &info, WEXITED | WNOHANG | WNOWAIT);
	}
	if (error)
		return;
	error = owner_ask(survivor->second, OWNED, "ping", 4, answer, &len, ANSWER_MS);
	assert_true(!error || error == -EOWNERDEAD || error == -EINVAL);
	if (!error)
		assert_memory_equal(answer, "ping", 4);
	assert_int_equal(regtab_unregister(survivor->second, OWNED, NULL), 0);
}

TEST(owner_dies_at_every_store)
{
	unsigned long n = 0;
	int status;

	if (!actor_forks_wipe())
		skip_because("MADV_WIPEONFORK succeeds here and wipes nothing");
	do {
		struct survivor survivor;
		pid_t pid;

		alarm(HANG_SECONDS);
		survivor_start(&survivor);
		pid = victim_start(suffer_serving, ++n, SIGKILL);
		question(&survivor, pid);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		survivor_check(&survivor, n);
		survivor_end(&survivor);
		alarm(0);
	} while (WIFSIGNALED(status));
	assert_int_equal(status, 0);
	print_message("%lu fault points\n", n - 1);
	assert_true(n > 20);
}

TEST(dies_at_every_step_of_opening_and_closing)
{
	unsigned long n = 0;
	int status;

	do {
		waitpid(victim_start(suffer_alone, ++n, SIGKILL), &status, 0);
		assert_int_equal(suffer_alone(), 0);
		assert_int_equal(actor_files(actor_dir()), 0);
	} while (WIFSIGNALED(status));
	assert_int_equal(status, 0);
	print_message("%lu fault points\n", n - 1);
	assert_true(n > 15);
}

/* One process stops while it opens or closes the table, the other leaves meanwhile: the last of them removes the file. */
TEST(the_last_of_two_removes_the_file)
{
	struct regtab_key key = actor_key(1);
	unsigned long n = 0;
	bool hit;

	if (!actor_forks_wipe())
		skip_because("MADV_WIPEONFORK succeeds here and wipes nothing");
	do {
		struct regtab *tab;
		int status;
		pid_t pid;

		alarm(HANG_SECONDS);
		assert_int_equal(regtab_open(&key, actor_dir(), &tab, NULL), 0);
		pid = victim_start(suffer_alone, ++n, SIGSTOP);
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		regtab_close(tab);
		hit = WIFSTOPPED(status);
		if (hit) {
			kill(pid, SIGCONT);
			assert_int_equal(waitpid(pid, &status, 0), pid);
		}
		assert_int_equal(status, 0);
		assert_int_equal(actor_files(actor_dir()), 0);
		alarm(0);
	} while (hit);
	print_message("%lu fault points\n", n - 1);
	assert_true(n > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(dies_at_every_store), UNIT(stops_at_every_store), UNIT(owner_dies_at_every_store),
		UNIT(dies_at_every_step_of_opening_and_closing), UNIT(the_last_of_two_removes_the_file),
	};

	actor_dir();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
