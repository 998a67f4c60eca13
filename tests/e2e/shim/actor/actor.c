/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Asks actors: by a function call, or over a socket with a time limit. */

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "row.h"

/*
 * This limit is longer than the one in verbs_data.c, so that the row's message names the missing
 * completion or event.
 */
#define ANSWER_MS 30000

enum mode actor_mode;

static void __attribute__((noreturn)) serve(int socket)
{
	struct actor_state *state = actor_state_new();
	struct request request;
	struct result result;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (recv(socket, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		result = actor_perform(state, &request);
		if (send(socket, &result, sizeof(result), MSG_NOSIGNAL) != (ssize_t)sizeof(result))
			break;
	}
	_exit(0);
}

static void start_process(struct actor *actor)
{
	int sockets[2];

	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
	actor->pid = fork();
	must(actor->pid >= 0);
	if (!actor->pid) {
		close(sockets[0]);
		serve(sockets[1]);
	}
	close(sockets[1]);
	actor->socket = sockets[0];
}

struct actor *actor_new(void)
{
	struct actor *actor = calloc(1, sizeof(*actor));

	must(actor);
	if (actor_mode == PROCESSES)
		start_process(actor);
	else
		actor->state = actor_state_new();
	return actor;
}

struct actor *actor_open(int device)
{
	struct actor *actor = actor_new();
	struct result result = ask(actor, open_device, .device = device);

	expect_ret(result, 0);
	actor->lid = (uint16_t)result.number;
	actor->gid = result.attr.ah_attr.grh.dgid;
	return actor;
}

static struct result answer(struct actor *actor, const struct request *request)
{
	struct pollfd pollfd = { .fd = actor->socket, .events = POLLIN };
	struct result result;

	if (send(actor->socket, request, sizeof(*request), MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(*request))
		row_fail(__FILE__, __LINE__, "an actor is gone before %s", request->name);
	if (poll(&pollfd, 1, ANSWER_MS) != 1)
		row_fail(__FILE__, __LINE__, "an actor hangs in %s", request->name);
	if (recv(actor->socket, &result, sizeof(result), 0) != (ssize_t)sizeof(result))
		row_fail(__FILE__, __LINE__, "an actor died in %s", request->name);
	return result;
}

struct result actor_ask(struct actor *actor, struct request request)
{
	return actor_mode == PROCESSES ? answer(actor, &request)
				       : actor_perform(actor->state, &request);
}

void actor_end(struct actor *actor, enum end how)
{
	struct request request = REQUEST(exit);

	if (how == BY_CLOSE_DEVICE) {
		expect_ok(ask(actor, close_device));
		return;
	}
	if (how == BY_KILL)
		must(!kill(actor->pid, SIGKILL));
	else
		must(send(actor->socket, &request, sizeof(request), MSG_NOSIGNAL) ==
		     (ssize_t)sizeof(request));
	must_end(actor->pid, how == BY_KILL ? SIGKILL : 0);
	close(actor->socket);
}
