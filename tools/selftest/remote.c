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

/* Both sides send it first. Structures are sent as they are in memory, so both sides must have the same layout. */
struct greeting {
	char magic[16];
	uint32_t one;
	uint32_t request_size, answer_size;
};

static const struct greeting greeting = { "xrc-selftest 1", 1, sizeof(struct request), sizeof(struct answer) };

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
	int error = getaddrinfo(host, port, &hints, list);

	return error == EAI_SYSTEM ? errno : error;
}

const char *actor_error(int error)
{
	return error < 0 ? gai_strerror(error) : strerror(error);
}

static int connect_to(const struct addrinfo *address, int *result)
{
	struct timeval limit = { .tv_sec = 10 };
	int error, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));	/* bounds connect as well */
	error = connect(fd, address->ai_addr, address->ai_addrlen) ? errno : greet(fd);
	if (error)
		close(fd);
	else
		*result = fd;
	return error == EINPROGRESS ? ETIMEDOUT : error;
}

int actor_connect(struct actor *actor, const char *name, const char *host, const char *port)
{
	struct addrinfo *list;
	int fd = -1, error = resolve(host, port, 0, &list);

	if (error)
		return error;
	error = EHOSTUNREACH;
	for (struct addrinfo *address = list; address && error; address = address->ai_next)
		error = connect_to(address, &fd);
	freeaddrinfo(list);
	if (!error)
		*actor = (struct actor){ .name = name, .socket = fd };
	return error;
}

static int listen_on(const struct addrinfo *address, int *error)
{
	int one = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd >= 0 && !bind(fd, address->ai_addr, address->ai_addrlen) && !listen(fd, 4))
		return fd;
	*error = errno;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int listen_at(const char *port, int *error)
{
	struct addrinfo *list;
	int fd = -1;

	*error = resolve(NULL, port, AI_PASSIVE, &list);
	if (*error)
		return -1;
	for (struct addrinfo *address = list; address && fd < 0; address = address->ai_next)
		fd = listen_on(address, error);
	freeaddrinfo(list);
	return fd;
}

/* Serves one actor in a process of its own. 0 or errno. */
static int serve_one(int listener, const char *device)
{
	int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid = peer < 0 ? -1 : fork();
	int error = pid < 0 ? errno : 0;

	if (!pid) {
		if (greet(peer))
			_exit(1);
		actor_run(peer, device);
	}
	if (peer >= 0)
		close(peer);
	return error;
}

/* Ends after the last actor, or if no actor was asked for in time. */
int actor_serve(const char *port, const char *device, unsigned int seconds)
{
	int error, fd = listen_at(port, &error), served = 0, running = 0;
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	if (fd < 0) {
		fprintf(stderr, "xrc-compat-selftest: cannot listen on port %s: %s\n", port, actor_error(error));
		return 125;
	}
	printf("listening on port %s\n", port);
	fflush(stdout);
	for (unsigned int waited = 0; running || (!served && waited < seconds * 10);) {
		if (poll(&pollfd, 1, 100) > 0) {
			error = serve_one(fd, device);
			if (error && error != ECONNABORTED) {
				fprintf(stderr, "xrc-compat-selftest: cannot serve a connection to port %s: %s\n", port, strerror(error));
				return 125;
			}
			served += !error;
			running += !error;
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
