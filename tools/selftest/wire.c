/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Actors in processes of their own, on this host or, through a command, on another. */
#include "selftest.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_SECONDS 20
#define ACTOR_LIFETIME 300	/* seconds, should everything else fail */
/* Messages are sent as they are in memory. A shell that prints a greeting sends no message. */
#define MAGIC (0x78740000u + (uint32_t)sizeof(struct message))

/* Receives a message into @now. 0, SILENT or GONE. */
static int take(int fd)
{
	size_t got = 0;

	while (got < sizeof(now)) {
		ssize_t size = TEMP_FAILURE_RETRY(
			read(fd, (char *)&now + got, sizeof(now) - got));

		if (size <= 0)
			return size < 0 && errno == EAGAIN ? SILENT : GONE;
		got += (size_t)size;
	}
	return now.magic == MAGIC ? 0 : GONE;
}

static int give(int fd)
{
	now.magic = MAGIC;
	return write(fd, &now, sizeof(now)) == sizeof(now) ? 0 : GONE;
}

void actor_act(int in, int out)
{
	/*
	 * Other actors have inherited the coordinator's end of this socket, so it stays open when
	 * the coordinator ends.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(ACTOR_LIFETIME);
	while (!take(in) && now.step < step_count && steps[now.step].run) {
		actor_step();
		if (give(out))
			break;
	}
	/* End without closing anything: the contract says what happens to the registrations. */
	_exit(0);
}

/* ---- the coordinator ---- */

/* In the child. @command has the socket as its standard input and output. */
__attribute__((noreturn)) static void become_actor(int socket, const char *command)
{
	if (!command)
		actor_act(socket, socket);
	dup2(socket, STDIN_FILENO);
	dup2(socket, STDOUT_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

int actor_start(struct actor *actor, const char *command)
{
	const struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	int ends[2];

	/* To write to an actor that has ended is an error, not the end of the self-test. */
	signal(SIGPIPE, SIG_IGN);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return errno;
	*actor = (struct actor){ .pid = fork(), .socket = ends[0] };
	if (actor->pid < 0)
		return errno;
	if (!actor->pid) {
		close(ends[0]);
		become_actor(ends[1], command);
	}
	close(ends[1]);
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return 0;
}

void actor_ask(struct actor *actor)
{
	int lost = give(actor->socket);

	if (!lost)
		lost = take(actor->socket);
	/* A late answer would be taken for that of the next step. */
	if (lost) {
		now.result = lost;
		actor_end(actor);
	}
	now.text[sizeof(now.text) - 1] = now.device[sizeof(now.device) - 1] = '\0';
}

void actor_end(struct actor *actor)
{
	if (actor->pid > 0) {
		kill(actor->pid, SIGKILL);
		waitpid(actor->pid, NULL, 0);
		actor->pid = 0;
	}
	close(actor->socket);
	actor->socket = -1;
}

const char *actor_error(int err)
{
	if (err == SILENT)
		return "no answer in time";
	if (err == GONE)
		return "the process ended";
	return err ? strerror(err) : "success";
}
