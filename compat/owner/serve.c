/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The owner's side: one thread that answers, and looks for QPs that nobody is registered with any more. */

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "socket.h"

#define CLIENTS_MAX	64u	/* connected and silent; who comes when all are taken waits in the kernel's queue */
#define LOOK_EVERY_MS	1000	/* how soon an owner that is kept busy notices that a registrant died */

struct owner {
	struct regtab_member *member;
	struct own_fd listener;
	struct own_fd clients[CLIENTS_MAX];
	unsigned client_count, oldest;
	int64_t next_look;
	bool stopped;
};

int owner_open(struct regtab_member *member, struct owner **owner)
{
	struct owner *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return -ENOMEM;
	made->member = member;
	err = own_fd_note(&made->listener, socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (!err) {
		socket_unlink(member);	/* one of this number that was killed has left it */
		err = socket_bind(&made->listener, member);
	}
	if (!err && listen(made->listener.fd, SOMAXCONN))
		err = -errno;
	if (err) {
		own_fd_close(&made->listener);
		free(made);
		return err;
	}
	*owner = made;
	return 0;
}

void owner_stop(struct owner *owner)
{
	__atomic_store_n(&owner->stopped, true, __ATOMIC_RELEASE);
	if (own_fd_is_ours(&owner->listener))
		shutdown(owner->listener.fd, SHUT_RDWR);
}

bool owner_is_ours(const struct owner *owner)
{
	return regtab_member_check(owner->member) != -ECHILD;
}

void owner_close(struct owner *owner)
{
	for (unsigned i = 0; i < owner->client_count; i++)
		own_fd_close(&owner->clients[i]);
	socket_unlink(owner->member);
	own_fd_close(&owner->listener);
	free(owner);
}

/* ---- what nobody is registered with ---- */

static int look(struct owner *owner, const struct owner_service *service, void *context)
{
	int done = 0;

	owner->next_look = socket_now_ms() + LOOK_EVERY_MS;
	for (uint32_t qp_num = 1; (qp_num = regtab_unused(owner->member, qp_num)); qp_num++) {
		service->unused(context, qp_num);	/* crash: the kernel destroys it with the process */
		done++;
	}
	return done;
}

/* ---- answering ---- */

static int answer(struct owner *owner, const struct owner_service *service, void *context, const struct question *question,
		  size_t length, struct reply *reply, size_t *reply_length)
{
	unsigned keeper;
	int err;

	*reply_length = 0;
	if (question->kind == QUESTION_UNUSED) {
		look(owner, service, context);
		return 0;
	}
	/* It may be for a QP that went meanwhile, or for an earlier owner of this number. */
	if (regtab_owner(owner->member, question->qp_num, &keeper) || keeper != regtab_member_number(owner->member))
		return -EOWNERDEAD;
	*reply_length = sizeof(reply->answer);
	err = service->answer(context, question->qp_num, question->request, length, reply->answer, reply_length);
	if (err || *reply_length > sizeof(reply->answer))
		*reply_length = 0;		/* out-parameters of a failed call say nothing */
	return err;
}

/* Who gave up is not answered, and what he asked for not done. */
static void serve_client(struct owner *owner, const struct owner_service *service, void *context, int fd, short events)
{
	struct question question;
	size_t reply_length, head = offsetof(struct question, request);
	struct reply reply;
	ssize_t size;

	if (events & (POLLHUP | POLLERR))
		return;
	size = recv(fd, &question, sizeof(question), MSG_DONTWAIT);
	if (size < (ssize_t)head)
		return;
	memset(&reply, 0, sizeof(reply));
	reply.result = answer(owner, service, context, &question, (size_t)size - head, &reply, &reply_length);
	/* It has room for one: an answer never waits for who asked. */
	send(fd, &reply, offsetof(struct reply, answer) + reply_length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void drop_client(struct owner *owner, unsigned i)
{
	own_fd_close(&owner->clients[i]);
	owner->clients[i] = owner->clients[--owner->client_count];
}

static void accept_client(struct owner *owner)
{
	struct own_fd client;

	if (!own_fd_is_ours(&owner->listener) ||
	    own_fd_note(&client, accept4(owner->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)))
		return;
	if (owner->client_count == CLIENTS_MAX)		/* they are silent, or it would have been served */
		drop_client(owner, owner->oldest++ % CLIENTS_MAX);
	owner->clients[owner->client_count++] = client;
	if (!socket_peer_is_user(client.fd))
		drop_client(owner, owner->client_count - 1);
}

static unsigned wait_for(const struct owner *owner, struct pollfd *fds, int64_t ms)
{
	unsigned count = owner->client_count;

	for (unsigned i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = owner->clients[i].fd, .events = POLLIN };
	/* A descriptor that the program closed is waited for no more; the looks go on. */
	fds[count] = (struct pollfd){ .fd = own_fd_is_ours(&owner->listener) ? owner->listener.fd : -1, .events = POLLIN };
	/* The thread has no signals: what fails is poll() as such, where a limit forbids so many descriptors. */
	if (poll(fds, count + 1, ms > 0 ? (int)ms : 0) < 0)
		poll(NULL, 0, ms > 0 ? (int)ms : 0);
	return count;
}

static int serve_all(struct owner *owner, const struct owner_service *service, void *context, int64_t ms)
{
	struct pollfd fds[CLIENTS_MAX + 1];
	unsigned count = wait_for(owner, fds, ms);
	bool called = fds[count].revents & POLLIN;
	int done = 0;

	while (count--) {	/* from the end: dropping one moves the last into its place */
		if (!fds[count].revents)
			continue;
		if (own_fd_is_ours(&owner->clients[count]))
			serve_client(owner, service, context, fds[count].fd, fds[count].revents);
		drop_client(owner, count);
		done++;
	}
	if (called)
		accept_client(owner);
	return done;
}

int owner_serve(struct owner *owner, const struct owner_service *service, void *context, unsigned timeout_ms)
{
	int64_t deadline = socket_now_ms() + timeout_ms;
	int done = 0;

	while (!done && !__atomic_load_n(&owner->stopped, __ATOMIC_ACQUIRE)) {
		int64_t now = socket_now_ms(), until = deadline < owner->next_look ? deadline : owner->next_look;

		if (now >= owner->next_look || now >= deadline)
			done = look(owner, service, context);
		if (done || now >= deadline)
			break;
		done = serve_all(owner, service, context, until - now);
	}
	return !done && __atomic_load_n(&owner->stopped, __ATOMIC_ACQUIRE) ? -ECANCELED : done;
}
