/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Asking the owner of a QP. */

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "socket.h"

/* Both ways of waiting that the kernel has to do with us end then: for room in the owner's queue, and for its answer. */
static int set_timeout(int fd, int64_t deadline)
{
	int64_t left = deadline - socket_now_ms();
	struct timeval wait = { .tv_sec = (time_t)(left / 1000), .tv_usec = (suseconds_t)(left % 1000 * 1000) };

	if (left <= 0)
		return -ETIMEDOUT;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
		return -errno;
	return 0;
}

/* An owner listens before it is in the table: who does not, has lost its socket, and is as silent as a stopped one. */
static int owner_error(int err)
{
	switch (err) {
	case -ECONNRESET:
	case -EPIPE:
		return -EOWNERDEAD;
	case -EAGAIN:
	case -ECONNREFUSED:
	case -ENOENT:
	case -ENOTCONN:
		return -ETIMEDOUT;
	default:
		return err;
	}
}

static int connect_in_time(const struct own_fd *own, const struct regtab_member *member, unsigned owner,
			   int64_t deadline)
{
	int err;

	do {
		err = set_timeout(own->fd, deadline);
		if (!err)
			err = socket_connect(own, member, owner);
	} while (err == -EINTR);
	if (!err && !socket_peer_is_user(own->fd))
		err = -ETIMEDOUT;	/* who sits there instead is no owner */
	return err;
}

/* Bytes of the reply, or -errno. */
static ssize_t receive_in_time(const struct own_fd *own, struct reply *reply, int64_t deadline)
{
	ssize_t size;

	do {
		int err = set_timeout(own->fd, deadline);

		if (err)
			return err;
		size = recv(own->fd, reply, sizeof(*reply), 0);
	} while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;
	return size < (ssize_t)offsetof(struct reply, answer) ? -EOWNERDEAD : size;
}

static ssize_t converse(const struct regtab_member *member, unsigned owner, const struct question *question, size_t size,
			struct reply *reply, int64_t deadline)
{
	struct own_fd own;
	ssize_t result = own_fd_note(&own, socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));

	if (result)
		return result;
	result = connect_in_time(&own, member, owner, deadline);
	if (!result && send(own.fd, question, size, MSG_NOSIGNAL) < 0)
		result = -errno;
	if (!result)
		result = receive_in_time(&own, reply, deadline);
	own_fd_close(&own);
	return result < 0 ? owner_error((int)result) : result;
}

/* A silent owner may be a dead one: only the table knows. */
static ssize_t put(struct regtab_member *member, const struct question *question, size_t size, struct reply *reply,
		   unsigned timeout_ms)
{
	int64_t deadline = socket_now_ms() + timeout_ms;
	unsigned owner;
	int err = regtab_owner(member, question->qp_num, &owner);
	ssize_t result;

	if (err)
		return err;
	result = converse(member, owner, question, size, reply, deadline);
	err = result == -ETIMEDOUT ? regtab_owner(member, question->qp_num, &owner) : 0;
	return err == -EINVAL || err == -EOWNERDEAD ? -EOWNERDEAD : result;
}

int owner_ask(struct regtab_member *member, uint32_t qp_num, const void *request, size_t request_len, void *answer,
	      size_t *answer_len, unsigned timeout_ms)
{
	struct question question = { .kind = QUESTION_ASK, .qp_num = qp_num };
	struct reply reply = { .result = -EPROTO };
	ssize_t size;

	if (request_len > sizeof(question.request))
		return -EMSGSIZE;
	memcpy(question.request, request, request_len);
	size = put(member, &question, offsetof(struct question, request) + request_len, &reply, timeout_ms);
	if (size < 0 || reply.result)
		return size < 0 ? (int)size : reply.result;
	size -= (ssize_t)offsetof(struct reply, answer);
	if ((size_t)size > *answer_len)
		return -EMSGSIZE;
	memcpy(answer, reply.answer, (size_t)size);
	*answer_len = (size_t)size;
	return 0;
}

int owner_tell_unused(struct regtab_member *member, uint32_t qp_num, unsigned timeout_ms)
{
	const struct question question = { .kind = QUESTION_UNUSED, .qp_num = qp_num };
	struct reply reply;
	ssize_t size = put(member, &question, offsetof(struct question, request), &reply, timeout_ms);

	return size >= 0 || size == -EINVAL || size == -EOWNERDEAD ? 0 : (int)size;
}
