/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Starting actors, asking them, and killing them. */
#include "actor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool receive_all(int socket, void *data, size_t size, int milliseconds)
{
	struct pollfd pollfd = { .fd = socket, .events = POLLIN };
	uint8_t *to = data;

	while (size) {
		ssize_t got;

		if (poll(&pollfd, 1, milliseconds) <= 0) {
			errno = ETIMEDOUT;
			return false;
		}
		got = recv(socket, to, size, 0);
		if (got <= 0) {
			errno = EPIPE;
			return false;
		}
		to += got;
		size -= (size_t)got;
	}
	return true;
}

static bool send_all(int socket, const void *data, size_t size)
{
	return send(socket, data, size, MSG_NOSIGNAL) == (ssize_t)size;
}

void actor_run(int socket, const char *device)
{
	struct request request;
	struct answer answer;

	/*
	 * Other actors have inherited the coordinator's end of this socket, so it stays open when
	 * the coordinator ends.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(ACTOR_LIFETIME);
	while (receive_all(socket, &request, sizeof(request), -1)) {
		request.text[PATH_SIZE - 1] = '\0';
		if (request.op == OP_OPEN_DEVICE && !request.text[0] && device)
			strncat(request.text, device, PATH_SIZE - 1);
		memset(&answer, 0, sizeof(answer));
		perform(&request, &answer);
		if (!send_all(socket, &answer, sizeof(answer)))
			break;
	}
	/* End without closing anything: the contract says what happens to the registrations. */
	_exit(0);
}

int actor_start(struct actor *actor, const char *name)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return errno;
	*actor = (struct actor){ .name = name, .pid = fork(), .socket = ends[0] };
	if (actor->pid < 0)
		return errno;
	if (!actor->pid) {
		close(ends[0]);
		actor_run(ends[1], NULL);
	}
	close(ends[1]);
	return 0;
}

struct answer actor_ask(struct actor *actor, const struct request *request)
{
	struct answer answer = { 0 };

	if (!send_all(actor->socket, request, sizeof(*request)))
		answer.err = ANSWER_GONE;
	else if (!receive_all(actor->socket, &answer, sizeof(answer), ANSWER_SECONDS * 1000))
		answer.err = errno == ETIMEDOUT ? ANSWER_SILENT : ANSWER_GONE;
	answer.text[DEVICE_SIZE - 1] = '\0';
	return answer;
}

void actor_kill(struct actor *actor)
{
	if (actor->pid > 0) {
		kill(actor->pid, SIGKILL);
		waitpid(actor->pid, NULL, 0);
		actor->pid = 0;
	}
	if (actor->socket > 0)
		close(actor->socket);
	actor->socket = -1;
}

const char *actor_error_text(int err)
{
	if (err == ANSWER_SILENT)
		return "no answer in time";
	if (err == ANSWER_GONE)
		return "the process ended";
	return err ? strerror(err) : "success";
}
