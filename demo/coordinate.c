/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The coordinator: starts the others, tells each what to do next, notices if one ends too early,
 * and prints the result. When something goes wrong it tells all to stop, and kills those that do
 * not.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster.h"
#include "table.h"

#define SENDER MAX_RECEIVERS	/* its index in members */
/* that the kernel may take to end a process whose socket it has closed */
#define END_MS 20000

static struct member members[MAX_RECEIVERS + 1];
static const struct options *options;

static const char *member_name(unsigned int number)
{
	static char name[32];

	if (number == SENDER)
		return "the sender";
	snprintf(name, sizeof(name), "receiver %u", number);
	return name;
}

static bool is_member(unsigned int number)
{
	return number == SENDER || number < options->receivers;
}

/* How a child ended, in words. */
static const char *ending(int status)
{
	static char words[64];

	if (WIFSIGNALED(status))
		snprintf(words, sizeof(words), "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(words, sizeof(words), "ended with status %d", WEXITSTATUS(status));
	return words;
}

/* Waits for a child. False if it is still there after that many milliseconds. */
static bool reap(pid_t pid, int milliseconds, int *status)
{
	struct timespec moment = { .tv_nsec = 5000000 };

	for (; waitpid(pid, status, WNOHANG) != pid; milliseconds -= 5) {
		if (milliseconds <= 0)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

static void stop_member(struct member *member)
{
	struct control control = { .verb = CONTROL_ABORT };
	int status;

	if (!member->pid)
		return;
	control_send(member->socket, &control);
	close(member->socket);
	if (reap(member->pid, 2000, &status))
		return;
	kill(member->pid, SIGKILL);
	reap(member->pid, 2000, &status);
}

static void give_up(void) __attribute__((noreturn));

static void give_up(void)
{
	for (unsigned int i = 0; i <= SENDER; i++)
		stop_member(&members[i]);
	exit(1);
}

static void member_lost(unsigned int number) __attribute__((noreturn));

static void member_lost(unsigned int number)
{
	struct member *member = &members[number];
	int status;

	if (errno == ETIMEDOUT) {
		process_say("%s does not answer; giving up", member_name(number));
	} else if (reap(member->pid, END_MS, &status)) {
		process_say("%s (pid %d) %s; giving up", member_name(number), (int)member->pid,
			    ending(status));
		member->pid = 0;
	} else {
		process_say("%s hung up; giving up", member_name(number));
	}
	give_up();
}

static void tell(unsigned int number, const struct control *control)
{
	if (control_send(members[number].socket, control))
		member_lost(number);
}

static void tell_verb(unsigned int number, enum control_verb verb)
{
	tell(number, &(struct control){ .verb = verb });
}

/*
 * Waits for a member's answer. All members may wait for a member that has failed. So it checks them
 * all in turn, to name the member that failed first.
 */
static struct control hear(unsigned int number, enum control_verb verb)
{
	int left = (int)options->timeout * 1000 + 4000;
	struct control control;

	while (control_receive(members[number].socket, &control, 20)) {
		left -= 20;
		if (errno != ETIMEDOUT || left <= 0)
			member_lost(number);
		for (unsigned int i = 0; i <= SENDER; i++)
			if (i != number && members[i].pid && control_hung_up(members[i].socket)) {
				errno = EPIPE;
				member_lost(i);
			}
	}
	if (control.verb != verb) {
		process_say("%s said %d instead of %d; giving up", member_name(number),
			    (int)control.verb, (int)verb);
		give_up();
	}
	members[number].counts = control.counts;
	return control;
}

/*
 * In the child. Closes the sockets of the others: while a copy is open, the coordinator does not
 * see that they end.
 */
static void become_member(unsigned int number, int socket, int domain_fd)
{
	for (unsigned int i = 0; i <= SENDER; i++)
		if (members[i].pid)
			close(members[i].socket);
	if (number == SENDER) {
		close(domain_fd);
		sender_run(options, socket);
	}
	receiver_run(options, socket, domain_fd, number);
}

static void start_member(unsigned int number, int domain_fd)
{
	struct member *member = &members[number];
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		process_say("socketpair: %s", strerror(errno));
		give_up();
	}
	pid = fork();
	if (pid < 0) {
		process_say("fork: %s", strerror(errno));
		give_up();
	}
	if (!pid) {
		close(pair[0]);
		become_member(number, pair[1], domain_fd);
	}
	close(pair[1]);
	*member = (struct member){ .pid = pid, .socket = pair[0], .shown_pid = pid };
}

/* Waits for a member that was told to leave: it answers, and ends with status 0. */
static void see_off(unsigned int number)
{
	struct member *member = &members[number];
	int status;

	hear(number, CONTROL_DONE);
	if (!reap(member->pid, (int)options->timeout * 1000, &status)) {
		errno = ETIMEDOUT;
		member_lost(number);
	}
	if (status) {
		process_say("%s %s after it left; giving up", member_name(number), ending(status));
		member->pid = 0;
		give_up();
	}
	close(member->socket);
	member->pid = 0;
}

/* Runs the probe in a child. It ends with 1 if it has printed what is missing. */
static bool probe(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		probe_run(options);
	if (pid < 0) {
		process_say("fork: %s", strerror(errno));
		return false;
	}
	if (!reap(pid, ((int)options->timeout + 4) * 1000, &status)) {
		process_say("the probe does not answer; giving up");
		kill(pid, SIGKILL);
		return false;
	}
	if (status && !(WIFEXITED(status) && WEXITSTATUS(status) == 1))
		process_say("the probe %s", ending(status));
	return !status;
}

static void start_all(int domain_fd)
{
	for (unsigned int i = 0; i <= SENDER; i++)
		if (is_member(i))
			start_member(i, domain_fd);
	for (unsigned int i = 0; i <= SENDER; i++)
		if (is_member(i))
			members[i].address = hear(i, CONTROL_HELLO).address;
}

/* Receiver 0 creates the receive QP, the others register with its number. */
static void make_rcv_qp(void)
{
	struct control control = { .verb = CONTROL_CREATE, .address = members[SENDER].address };

	tell(0, &control);
	members[0].address = hear(0, CONTROL_DONE).address;
	control = (struct control){ .verb = CONTROL_REGISTER, .address = members[0].address };
	for (unsigned int i = 1; i < options->receivers; i++)
		tell(i, &control);
	for (unsigned int i = 1; i < options->receivers; i++)
		members[i].address = hear(i, CONTROL_DONE).address;
}

static void connect_sender(void)
{
	struct control control = { .verb = CONTROL_TARGET };

	for (unsigned int i = 0; i < options->receivers; i++) {
		control.receiver = i;
		control.address = members[i].address;
		tell(SENDER, &control);
		hear(SENDER, CONTROL_DONE);
	}
	control.verb = CONTROL_CONNECT;
	control.address = members[0].address;
	tell(SENDER, &control);
	hear(SENDER, CONTROL_DONE);
}

/* With the receivers from `first` on, which are still there. */
static void play_round(uint32_t round, unsigned int first)
{
	struct control control = { .verb = CONTROL_ROUND, .round = round };

	for (unsigned int i = first; i < options->receivers; i++)
		control.present |= 1u << i;
	for (unsigned int i = first; i < options->receivers; i++)
		tell(i, &control);
	tell(SENDER, &control);
	for (unsigned int i = first; i < options->receivers; i++)
		hear(i, CONTROL_DONE);
	hear(SENDER, CONTROL_DONE);
}

/* One receiver after the other leaves, the creator first; the rest goes on receiving. */
static void play_departures(uint32_t round)
{
	for (unsigned int i = 0; i + 1 < options->receivers; i++) {
		tell_verb(i, CONTROL_LEAVE);
		see_off(i);
		play_round(round + i, i + 1);
	}
}

/* The receive QP ends with the last registration, although the SRQ is still there. */
static enum ibv_wc_status play_end(void)
{
	unsigned int last = options->receivers - 1;
	struct control control = { .verb = CONTROL_LAST_WORD, .receiver = last };
	enum ibv_wc_status status;

	tell_verb(last, CONTROL_UNREGISTER);
	hear(last, CONTROL_DONE);
	tell(SENDER, &control);
	status = (enum ibv_wc_status)hear(SENDER, CONTROL_DONE).status;
	tell_verb(last, CONTROL_LEAVE);
	see_off(last);
	tell_verb(SENDER, CONTROL_QUIT);
	see_off(SENDER);
	return status;
}

int coordinate(const struct options *opts, int domain_fd)
{
	enum ibv_wc_status status;

	options = opts;
	if (!probe())
		return 1;
	start_all(domain_fd);
	make_rcv_qp();
	connect_sender();
	for (uint32_t round = 0; round < options->iterations; round++)
		play_round(round, 0);
	play_departures(options->iterations);
	status = play_end();
	table_print(members, options->receivers, &members[SENDER], status);
	return table_complete(members, options->receivers, &members[SENDER], status) ? 0 : 1;
}
