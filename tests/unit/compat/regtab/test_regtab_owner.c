/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Questions to owners of QPs, and how an owner is told that nobody is registered any more. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <compat/owner/owner.h>
#include <compat/regtab/file.h>

#include "../../unit.h"
#include "actor.h"

#define QP 0x4au
#define NUMBER(n) (QP | (uint32_t)(n) << 16)
#define NEVER 555
#define REFUSED 666	/* numbers with a meaning to the actor's service */
#define SLOW 777
#define HURRIED 888
#define HELD_BACK_AND_HURRIED 999

static struct actor owner, asker, other;

FIXTURE(setup)
{
	owner = actor_start(actor_dir(), 1);
	asker = actor_start(actor_dir(), 1);
	other = actor_start(actor_dir(), 1);
	if (actor_do(&owner, ACT_ADD_OWNED, QP) || actor_do(&owner, ACT_SERVE, 0))
		return -1;
	return 0;
}

FIXTURE(teardown)
{
	actor_end(&asker);
	actor_end(&other);
	return actor_files(actor_dir()) ? -1 : 0;
}

/* Waits until the owner's number of @what, for QP, is this; for 20 s at least. */
static void wait_until(enum act what, int count)
{
	for (int i = 0; i < 2000 && actor_do(&owner, what, QP) < count; i++)
		usleep(10000);
	assert_int_equal(actor_do(&owner, what, QP), count);
}

TEST(an_owner_answers)
{
	for (int i = 0; i < 200; i++) {
		assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(i)), i + 1);
		assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(i + 7)), i + 8);
	}
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(REFUSED)), -EACCES);
	assert_int_equal(actor_do(&owner, ACT_ASK, NUMBER(4)), 5);	/* asking oneself is allowed */
	actor_end(&owner);
}

TEST(questions_do_not_mix)
{
	for (int i = 0; i < 100; i++) {
		actor_post(&asker, ACT_ASK, NUMBER(i));
		actor_post(&other, ACT_ASK, NUMBER(1000 + i));
		assert_int_equal(actor_reply(&asker, 15000), i + 1);
		assert_int_equal(actor_reply(&other, 15000), 1001 + i);
	}
	actor_end(&owner);
}

TEST(only_owners_are_asked)
{
	assert_int_equal(actor_do(&owner, ACT_ADD, QP + 1), 0);
	assert_int_equal(actor_do(&asker, ACT_ASK, QP + 1), -EINVAL);
	assert_int_equal(actor_do(&asker, ACT_ASK, QP + 2), -EINVAL);
	actor_end(&owner);
}

TEST(a_stopped_owner_costs_the_timeout)
{
	actor_stop(&owner);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(HURRIED)), -ETIMEDOUT);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(HURRIED)), -ETIMEDOUT);
	actor_continue(&owner);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(1)), 2);
	actor_end(&owner);
}

TEST(an_abandoned_question_holds_nobody_up)
{
	actor_post(&asker, ACT_ASK, NUMBER(SLOW));		/* the owner takes 300 ms for the answer */
	wait_until(ACT_ASKED, 1);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(1)), 2);
	assert_int_equal(actor_reply(&asker, 15000), SLOW + 1);
	actor_post(&asker, ACT_ASK, NUMBER(SLOW));
	wait_until(ACT_ASKED, 3);
	actor_kill(&asker);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(1)), 2);
	asker = actor_start(actor_dir(), 1);
	actor_end(&owner);
}

TEST(an_answer_too_late_is_dropped)
{
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(HELD_BACK_AND_HURRIED)), -ETIMEDOUT);
	assert_int_equal(actor_do(&owner, ACT_RELEASE, 0), 0);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(1)), 2);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(2)), 3);
	actor_end(&owner);
}

TEST(an_answer_must_fit)
{
	struct regtab_key key = actor_key(1);
	struct regtab_member *member;
	uint32_t number = 4;
	struct regtab *tab;
	char answer[4] = "abc";
	size_t len = 2;

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

TEST(a_killed_owner_is_noticed_at_once)
{
	actor_post(&asker, ACT_ASK, NUMBER(NEVER));
	wait_until(ACT_ASKED, 1);
	actor_kill(&owner);
	assert_int_equal(actor_reply(&asker, 15000), -EOWNERDEAD);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(1)), -EINVAL);	/* nobody was registered but the owner */
}

TEST(a_new_owner_in_the_place_of_the_dead)
{
	actor_post(&asker, ACT_ASK, NUMBER(NEVER));
	wait_until(ACT_ASKED, 1);
	actor_kill(&owner);
	owner = actor_start(actor_dir(), 1);
	assert_int_equal(actor_do(&owner, ACT_ADD_OWNED, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_SERVE, 0), 0);
	assert_int_equal(actor_reply(&asker, 15000), -EOWNERDEAD);
	assert_int_equal(actor_do(&other, ACT_ASK, NUMBER(1)), 2);
	assert_int_equal(actor_do(&asker, ACT_ASK, NUMBER(1)), 2);
	actor_end(&owner);
}

/* ---- processes that connect and ask nothing ---- */

/* The socket of the first member. */
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

/* As askers that are stopped between connecting and asking. */
TEST(silent_askers_hold_nobody_up)
{
	int fds[300];

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

TEST(other_users_are_not_answered)
{
	const char *path = socket_of_owner();
	int status;

	assert_int_equal(chmod(actor_dir(), 0755), 0);
	assert_int_equal(chmod(path, 0777), 0);
	status = in_child(ask_as_another_user(path));
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
TEST(the_mode_of_the_socket)
{
	struct stat st;

	assert_int_equal(stat(socket_of_owner(), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	actor_end(&owner);
}

/* A killed owner cannot remove its socket; whoever cleans up does. */
TEST(sockets_of_the_dead_are_removed)
{
	const char *path = socket_of_owner();

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

TEST(the_owner_hears_of_the_last)
{
	assert_int_equal(actor_do(&asker, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&other, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 0);
	assert_int_equal(actor_do(&asker, ACT_UNREGISTER_BLIND, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_RETIRED, QP), 0);
	assert_int_equal(actor_do(&other, ACT_UNREGISTER, QP), 1);
	wait_until(ACT_RETIRED, 1);
	assert_int_equal(actor_do(&other, ACT_KNOWS, QP), -EINVAL);
	actor_end(&owner);
}

static void kill_the_last(void)
{
	assert_int_equal(actor_do(&asker, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 0);
	actor_kill(&asker);
}

/* Nobody tells it: the owner finds out by itself. */
TEST(the_owner_hears_of_a_killed_last)
{
	kill_the_last();
	wait_until(ACT_RETIRED, 1);
	asker = actor_start(actor_dir(), 1);
	actor_end(&owner);
}

/* Either the owner or the one who looks for the dead finds out first. */
TEST(the_owner_hears_when_another_finds_the_dead)
{
	kill_the_last();
	actor_do(&other, ACT_REAP, 0);
	wait_until(ACT_RETIRED, 1);
	asker = actor_start(actor_dir(), 1);
	actor_end(&owner);
}

TEST(the_owner_may_come_back)
{
	assert_int_equal(actor_do(&asker, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_REGISTER, QP), 0);
	assert_int_equal(actor_do(&asker, ACT_UNREGISTER, QP), 0);
	assert_int_equal(actor_do(&owner, ACT_UNREGISTER, QP), 1);
	usleep(300000);
	assert_int_equal(actor_do(&owner, ACT_RETIRED, QP), 0);	/* unregister has told it already */
	actor_end(&owner);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_MAIN(NULL, NULL,
	CASE(an_owner_answers), CASE(questions_do_not_mix), CASE(only_owners_are_asked),
	CASE(a_stopped_owner_costs_the_timeout), CASE(an_abandoned_question_holds_nobody_up),
	CASE(an_answer_too_late_is_dropped), CASE(an_answer_must_fit), CASE(a_killed_owner_is_noticed_at_once),
	CASE(a_new_owner_in_the_place_of_the_dead), CASE(silent_askers_hold_nobody_up),
	CASE(other_users_are_not_answered), CASE(the_mode_of_the_socket),
	cmocka_unit_test_setup_teardown(the_mode_of_the_socket, setup_with_umask, teardown),
	CASE(sockets_of_the_dead_are_removed), CASE(the_owner_hears_of_the_last),
	CASE(the_owner_hears_of_a_killed_last), CASE(the_owner_hears_when_another_finds_the_dead),
	CASE(the_owner_may_come_back))
