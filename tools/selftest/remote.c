/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Actors on another host. */
#include "actor.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Both sides send it first. Structures are sent as they are in memory, so both sides must have the
 * same layout.
 */
struct greeting {
	char magic[16];
	uint32_t one;
	uint32_t request_size, answer_size;
};

static const struct greeting greeting = { "xrc-selftest 1", 1, sizeof(struct request),
					  sizeof(struct answer) };

static int greet(int socket)
{
	struct timeval limit = { .tv_sec = 10 };
	struct greeting theirs;

	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (send(socket, &greeting, sizeof(greeting), MSG_NOSIGNAL) != sizeof(greeting))
		return EPIPE;
	if (recv(socket, &theirs, sizeof(theirs), MSG_WAITALL) != sizeof(theirs))
		return ETIMEDOUT;
	limit.tv_sec = 0;
	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return memcmp(&theirs, &greeting, sizeof(greeting)) ? EPROTO : 0;
}

/* 0, a positive errno, or a negative number of getaddrinfo(). */
static int resolve(const char *host, const char *port, int flags, struct addrinfo **list)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
	int err = getaddrinfo(host, port, &hints, list);

	return err == EAI_SYSTEM ? errno : err;
}

const char *actor_error(int err)
{
	return err < 0 ? gai_strerror(err) : strerror(err);
}

static int connect_to(const struct addrinfo *address, int *result)
{
	struct timeval limit = { .tv_sec = 10 };
	int err, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));	/* bounds connect as well */
	err = connect(fd, address->ai_addr, address->ai_addrlen) ? errno : greet(fd);
	if (err)
		close(fd);
	else
		*result = fd;
	return err == EINPROGRESS ? ETIMEDOUT : err;
}

int actor_connect(struct actor *actor, const char *name, const char *host, const char *port)
{
	struct addrinfo *list;
	int fd = -1, err = resolve(host, port, 0, &list);

	if (err)
		return err;
	err = EHOSTUNREACH;
	for (struct addrinfo *address = list; address && err; address = address->ai_next)
		err = connect_to(address, &fd);
	freeaddrinfo(list);
	if (!err)
		*actor = (struct actor){ .name = name, .socket = fd };
	return err;
}

static int listen_on(const struct addrinfo *address, int *err)
{
	int one = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd >= 0 && !bind(fd, address->ai_addr, address->ai_addrlen) && !listen(fd, 4))
		return fd;
	*err = errno;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int listen_at(const char *port, int *err)
{
	struct addrinfo *list;
	int fd = -1;

	*err = resolve(NULL, port, AI_PASSIVE, &list);
	if (*err)
		return -1;
	for (struct addrinfo *address = list; address && fd < 0; address = address->ai_next)
		fd = listen_on(address, err);
	freeaddrinfo(list);
	return fd;
}

/* Serves one actor in a process of its own. 0 or errno. */
static int serve_one(int listener, const char *device)
{
	int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid = peer < 0 ? -1 : fork();
	int err = pid < 0 ? errno : 0;

	if (!pid) {
		if (greet(peer))
			_exit(1);
		actor_run(peer, device);
	}
	if (peer >= 0)
		close(peer);
	return err;
}

/* Ends after the last actor, or if no actor was asked for in time. */
int actor_serve(const char *port, const char *device, unsigned int seconds)
{
	int err, fd = listen_at(port, &err), served = 0, running = 0;
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	if (fd < 0) {
		fprintf(stderr, "xrc-compat-selftest: cannot listen on port %s: %s\n", port,
			actor_error(err));
		return 125;
	}
	printf("listening on port %s\n", port);
	fflush(stdout);
	for (unsigned int waited = 0; running || (!served && waited < seconds * 10);) {
		if (poll(&pollfd, 1, 100) > 0) {
			err = serve_one(fd, device);
			if (err && err != ECONNABORTED) {
				fprintf(stderr,
					"xrc-compat-selftest: cannot serve a connection to port %s: %s\n",
					port, strerror(err));
				return 125;
			}
			served += !err;
			running += !err;
		}
		while (running && waitpid(-1, NULL, WNOHANG) > 0)
			running--;
		waited++;
	}
	if (served)
		return 0;
	fprintf(stderr, "xrc-compat-selftest: no host connected within %u s\n", seconds);
	return 125;
}
