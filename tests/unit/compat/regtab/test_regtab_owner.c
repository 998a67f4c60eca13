/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Questions to owners of QPs, and how owners hear that nobody is registered any more. */

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <compat/owner/owner.h>
#include <compat/regtab/file.h>

#include "../../skip.h"
#include "actor.h"

#define QP 0x4au
#define NUMBER(n) (QP | (uint32_t)(n) << 16)
#define NEVER 555
#define REFUSED 666	/* numbers with a meaning to the actor's service */
#define SLOW 777
#define HURRIED 888
#define SLOW_AND_HURRIED 999

static struct actor owner, asker, other;

static int setup(void **state)
{
	(void)state;
	owner = actor_start(actor_dir(), 1);
	asker = actor_start(actor_dir(), 1);
	other = actor_start(actor_dir(), 1);
	if (actor_do(&owner, ACT_ADD_OWNED, QP) || actor_do(&owner, ACT_SERVE, 0))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	actor_end(&asker);
	actor_end(&other);
	return actor_files(actor_dir()) ? -1 : 0;
}

static void wait_retired(int count)
{
	for (int i = 0; i < 2000 && actor_do(&owner, ACT_RETIRED, QP) < count; i++)
		usleep(10000);
	assert_int_equal(actor_do(&owner, ACT_RETIRED, QP), count);
}

static void an_owner_answers(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(i)), i + 1);
		assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(i + 7)), i + 8);
	}
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(REFUSED)), -EACCES);
	assert_int_equal(actor_do(&owner, ACT_ASK, NUMBER(4)), 5);	/* asking oneself is allowed */
	actor_end(&owner);
}

static void questions_do_not_mix(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		actor_post(&asker, ACT_ASK, NUMBER(i));
		actor_post(&other, ACT_ASK, NUMBER(1000 + i));
		assert_int_equal(actor_reply(&asker, 15000), i + 1);
		assert_int_equal(actor_reply(&other, 15000), 1001 + i);
	}
	actor_end(&owner);
}

static void only_owners_are_asked(void **state)
{
	(void)state;
	assert_int_equal(actor_do(&owner, ACT_ADD, QP + 1), 0);
	assert_int_equal(actor_do(&asker, ACT_ASK, QP + 1), -EINVAL);
	assert_int_equal(actor_do(&asker, ACT_ASK, QP + 2), -EINVAL);
	actor_end(&owner);
}

static void a_stopped_owner_costs_the_timeout(void **state)
{
	(void)state;
	actor_stop(&owner);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(HURRIED)), -ETIMEDOUT);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(HURRIED)), -ETIMEDOUT);
	actor_continue(&owner);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(1)), 2);
	actor_end(&owner);
}

static void an_abandoned_question_frees_the_box(void **state)
{
	(void)state;
	actor_post(&asker, ACT_ASK, NUMBER(SLOW));		/* the owner is at it for 300 ms */
	usleep(50000);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(1)), 2);
	assert_int_equal(actor_reply(&asker, 15000), SLOW + 1);
	actor_post(&asker, ACT_ASK, NUMBER(SLOW));
	usleep(50000);
	actor_kill(&asker);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(1)), 2);
	asker = actor_start(actor_dir(), 1);
	actor_end(&owner);
}

static void an_answer_too_late_is_dropped(void **state)
{
	(void)state;
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(SLOW_AND_HURRIED)), -ETIMEDOUT);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(1)), 2);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(2)), 3);
	actor_end(&owner);
}

static void an_answer_must_fit(void **state)
{
	struct regtab_key key = actor_key(1);
	struct regtab_member *member;
	uint32_t number = 4;
	struct regtab *tab;
	char answer[4] = "abc";
	size_t len = 2;

	(void)state;
	assert_int_equal(regtab_open(&key, actor_dir(), &tab, NULL), 0);
	assert_int_equal(regtab_join(tab, "test", &member), 0);
	assert_int_equal(owner_ask(member, QP, &number, sizeof(number), answer, &len, 20000), -EMSGSIZE);
	assert_string_equal(answer, "abc");
	assert_int_equal(len, 2);
	len = sizeof(answer);
	assert_int_equal(owner_ask(member, QP, &number, OWNER_MESSAGE_MAX + 1, answer, &len, 20000), -EMSGSIZE);
	assert_int_equal(owner_ask(member, QP, &number, sizeof(number), answer, &len, 20000), 0);
	assert_int_equal(len, 4);
	regtab_leave(member);
	regtab_close(tab);
	actor_end(&owner);
}

/* For 20 s at most. */
static void wait_asked(int count)
{
	for (int i = 0; i < 2000 && actor_do(&owner, ACT_ASKED, 0) < count; i++)
		usleep(10000);
	assert_int_equal(actor_do(&owner, ACT_ASKED, 0), count);
}

static void a_killed_owner_is_noticed_at_once(void **state)
{
	(void)state;
	actor_post(&asker, ACT_ASK, NUMBER(NEVER));
	wait_asked(1);
	actor_kill(&owner);
	assert_int_equal(actor_reply(&asker, 15000), -EOWNERDEAD);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(1)), -EINVAL);	/* nobody was registered but the owner */
}

static void a_new_owner_in_the_place_of_the_dead(void **state)
{
	(void)state;
	actor_post(&asker, ACT_ASK, NUMBER(NEVER));
	wait_asked(1);
	actor_kill(&owner);
	owner = actor_start(actor_dir(), 1);
	assert_int_equal(actor_do(&owner, ACT_ADD_OWNED, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_SERVE, 0), 0);
	assert_int_equal(actor_reply(&asker, 15000), -EOWNERDEAD);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(1)), 2);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(1)), 2);
	actor_end(&owner);
}

/* ---- who connects and says nothing ---- */

/* Of the first that joined. */
static const char *socket_of_owner(void)
{
	struct regtab_key key = actor_key(1);
	static char path[600];
	struct table_file file;

	regtab_file_path(&file, actor_dir(), &key, 0);
	snprintf(path, sizeof(path), "%s/.%s.0", actor_dir(), strrchr(file.path, '/') + 1);
	return path;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s", (int)sizeof(address.sun_path) - 1, path);
	if (fd >= 0 && !connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	close(fd);
	return -1;
}

/* As one that was stopped between connecting and asking would. */
static void silent_askers_hold_nobody_up(void **state)
{
	int fds[300];

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		fds[i] = connect_to(socket_of_owner());
		assert_true(fds[i] >= 0);
	}
	actor_post(&asker, ACT_ASK, NUMBER(1));
	assert_int_equal(actor_reply(&asker, 15000), 2);
	for (unsigned i = 0; i < 300; i++)
		close(fds[i]);
	actor_end(&owner);
}

/* A question of another user is not answered, whatever the mode of the socket's file. 77: not permitted. */
static int ask_as_another_user(const char *path)
{
	char question[12] = "", reply[8];
	int fd;

	if (setgid(65534) || setuid(65534))
		return 77;
	fd = connect_to(path);
	if (fd < 0)
		return 2;
	send(fd, question, sizeof(question), MSG_NOSIGNAL);
	return recv(fd, reply, sizeof(reply), 0) > 0;
}

static void other_users_are_not_answered(void **state)
{
	const char *path = socket_of_owner();
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(chmod(actor_dir(), 0755), 0);
	assert_int_equal(chmod(path, 0777), 0);
	pid = fork();
	if (!pid)
		_exit(ask_as_another_user(path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(chmod(actor_dir(), 0700), 0);
	actor_end(&owner);
	child_passed(status, "only root can become another user");
}

static int setup_with_umask(void **state)
{
	mode_t before = umask(0777);
	int err = setup(state);

	umask(before);
	return err;
}

/* The user's other processes may connect, and nobody else, whatever the program's umask is. */
static void the_mode_of_the_socket(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(stat(socket_of_owner(), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	actor_end(&owner);
}

/* A killed owner cannot remove its socket; whoever cleans up does. */
static void sockets_of_the_dead_are_removed(void **state)
{
	const char *path = socket_of_owner();

	(void)state;
	assert_int_equal(access(path, F_OK), 0);
	actor_kill(&owner);
	regtab_gc(actor_dir(), false, NULL, NULL);
	assert_int_equal(access(path, F_OK), 0);		/* the table is in use, the number may be too */
	actor_end(&asker);
	actor_end(&other);
	regtab_gc(actor_dir(), false, NULL, NULL);
	assert_int_equal(access(path, F_OK), -1);
	asker = actor_start(actor_dir(), 1);
	other = actor_start(actor_dir(), 1);
}

/* ---- the end of a QP ---- */

static void the_owner_hears_of_the_last(void **state)
{
	(void)state;
	assert_int_equal(actor_do(&asker, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&other, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 0);
	assert_int_equal(actor_do(&asker, ACT_UNREGISTER_BLIND, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_RETIRED, QP), 0);
	assert_int_equal(actor_do(&other, ACT_UNREGISTER, QP), 1);
	wait_retired(1);
	assert_int_equal(actor_do(&other, ACT_KNOWS, QP), -EINVAL);
	actor_end(&owner);
}

static void the_owner_hears_of_a_killed_last(void **state)
{
	(void)state;
	assert_int_equal(actor_do(&asker, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 0);
	actor_kill(&asker);
	wait_retired(1);	/* nobody says so: the owner's own look finds it */
	asker = actor_start(actor_dir(), 1);
	actor_end(&owner);
}

static void the_owner_hears_when_a_reaper_ends_it(void **state)
{
	(void)state;
	assert_int_equal(actor_do(&asker, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 0);
	actor_kill(&asker);
	actor_do(&other, ACT_REAP, 0);	/* it or the owner finds it first */
	wait_retired(1);
	asker = actor_start(actor_dir(), 1);
	actor_end(&owner);
}

static void the_owner_may_come_back(void **state)
{
	(void)state;
	assert_int_equal(actor_do(&asker, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&asker, ACT_UNREGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 1);
	usleep(300000);
	assert_int_equal(actor_do(&owner, ACT_RETIRED, QP), 0);	/* it was told directly, not twice */
	actor_end(&owner);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_owner_answers),
		CASE(questions_do_not_mix),
		CASE(only_owners_are_asked),
		CASE(a_stopped_owner_costs_the_timeout),
		CASE(an_abandoned_question_frees_the_box),
		CASE(an_answer_too_late_is_dropped),
		CASE(an_answer_must_fit),
		CASE(a_killed_owner_is_noticed_at_once),
		CASE(a_new_owner_in_the_place_of_the_dead),
		CASE(silent_askers_hold_nobody_up),
		CASE(other_users_are_not_answered),
		CASE(the_mode_of_the_socket),
		cmocka_unit_test_setup_teardown(the_mode_of_the_socket, setup_with_umask, teardown),
		CASE(sockets_of_the_dead_are_removed),
		CASE(the_owner_hears_of_the_last),
		CASE(the_owner_hears_of_a_killed_last),
		CASE(the_owner_hears_when_a_reaper_ends_it),
		CASE(the_owner_may_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
