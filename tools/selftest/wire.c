/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Actors in processes of their own, on this host or, through a command, on another. */
#include "selftest.h"
#include "tools_config.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_SECONDS 20
#define ACTOR_LIFETIME 300 /* seconds, should everything else fail */

/* Receives @task, or leaves it as it is. 0, SILENT, GONE or GREETED. */
static int take(int fd)
{
	struct task in;
	size_t got = 0;

	while (got < sizeof(in)) {
		ssize_t size = TEMP_FAILURE_RETRY(read(fd, (char *)&in + got, sizeof(in) - got));

		if (size <= 0)
			return size < 0 && errno == EAGAIN ? SILENT : GONE;
		got += (size_t)size;
	}
	if (memcmp(in.version, TOOLS_VERSION, sizeof(TOOLS_VERSION)))
		return GREETED;
	task = in;
	return 0;
}

static int give(int fd)
{
	strcpy(task.version, TOOLS_VERSION);
	return write(fd, &task, sizeof(task)) == sizeof(task) ? 0 : GONE;
}

void actor_serve(int in, int out)
{
	/* Other actors have inherited the coordinator's end of this socket, and keep it open. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(ACTOR_LIFETIME);
	while (!take(in) && task.step < step_count && steps[task.step].run) {
		actor_step();
		if (give(out))
			break;
	}
	/* End without closing anything: the contract says what happens to the registrations. */
	_exit(0);
}

/* ---- the coordinator ---- */

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
		if (!command)
			actor_serve(ends[1], ends[1]);
		/* The command has the socket as its standard input and output. */
		dup2(ends[1], STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
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
		task.result = lost;
		actor_end(actor);
	}
	task.text[sizeof(task.text) - 1] = task.device[sizeof(task.device) - 1] = '\0';
}

void actor_end(struct actor *actor)
{
	if (actor->pid > 0) {
		kill(actor->pid, SIGKILL);
		/* A driver may hold the process in the kernel; init reaps it then. */
		for (int i = 0; i < 100 && !waitpid(actor->pid, NULL, WNOHANG); i++)
			usleep(50000);
		actor->pid = 0;
	}
	close(actor->socket);
	actor->socket = -1;
}
