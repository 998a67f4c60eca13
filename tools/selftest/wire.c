/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Actors in processes of their own, on this host or on another. */
#include "selftest.h"

#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_SECONDS 20
#define ACTOR_LIFETIME 300	/* seconds, should everything else fail */
#define CONNECT_SECONDS 10
#define LISTEN_SECONDS 600
/* Both sides send it; another protocol has another one. Messages are sent as they are in memory. */
#define MAGIC (0x78740000u + (uint32_t)sizeof(struct message))
#define HELLO UINT32_MAX	/* in place of a step: the first message over TCP */

/* Receives a message into @now. 0, SILENT or GONE. */
static int take(int socket)
{
	ssize_t got = TEMP_FAILURE_RETRY(recv(socket, &now, sizeof(now), MSG_WAITALL));

	if (got < 0 && errno == EAGAIN)
		return SILENT;
	return got == sizeof(now) && now.magic == MAGIC ? 0 : GONE;
}

static int give(int socket)
{
	now.magic = MAGIC;
	return send(socket, &now, sizeof(now), MSG_NOSIGNAL) == sizeof(now) ? 0 : GONE;
}

/* ---- an actor ---- */

/* Answers until the other side hangs up. */
__attribute__((noreturn)) static void act(int socket)
{
	/*
	 * Other actors have inherited the coordinator's end of this socket, so it stays open when
	 * the coordinator ends.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(ACTOR_LIFETIME);
	while (!take(socket) && now.step < step_count && steps[now.step].run) {
		actor_step();
		if (give(socket))
			break;
	}
	/* End without closing anything: the contract says what happens to the registrations. */
	_exit(0);
}

/* ---- the coordinator ---- */

static void limit_wait(int socket, int option, time_t seconds)
{
	setsockopt(socket, SOL_SOCKET, option, &(struct timeval){ .tv_sec = seconds },
		   sizeof(struct timeval));
}

static int start(struct actor *actor)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return errno;
	*actor = (struct actor){ .pid = fork(), .socket = ends[0] };
	if (actor->pid < 0)
		return errno;
	if (!actor->pid) {
		close(ends[0]);
		act(ends[1]);
	}
	close(ends[1]);
	limit_wait(ends[0], SO_RCVTIMEO, ANSWER_SECONDS);
	return 0;
}

void actor_ask(struct actor *actor)
{
	int lost = give(actor->socket);

	if (!lost)
		lost = take(actor->socket);
	if (lost)
		now.result = lost;
	if (lost == GONE)
		actor_end(actor);
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
	return err < 0 ? gai_strerror(err) : err ? strerror(err) : "success";
}

/* ---- over TCP ---- */

static bool connects(int fd, const struct addrinfo *address)
{
	limit_wait(fd, SO_SNDTIMEO, CONNECT_SECONDS);	/* bounds connect as well */
	limit_wait(fd, SO_RCVTIMEO, ANSWER_SECONDS);
	return !connect(fd, address->ai_addr, address->ai_addrlen);
}

static bool listens(int fd, const struct addrinfo *address)
{
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	return !bind(fd, address->ai_addr, address->ai_addrlen) && !listen(fd, 4);
}

/*
 * Connects to that host, or listens if it is NULL. 0, a positive errno, or a negative number of
 * getaddrinfo().
 */
static int open_socket(const char *host, const char *port, int *fd)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = host ? 0 : AI_PASSIVE };
	struct addrinfo *list;
	int err = getaddrinfo(host, port, &hints, &list);

	if (err)
		return err == EAI_SYSTEM ? errno : err;
	err = EHOSTUNREACH;
	for (struct addrinfo *address = list; address && err; address = address->ai_next) {
		*fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		err = *fd >= 0 && (host ? connects : listens)(*fd, address) ? 0 : errno;
		if (err && *fd >= 0)
			close(*fd);
	}
	freeaddrinfo(list);
	return err == EINPROGRESS ? ETIMEDOUT : err;
}

int actor_start(struct actor *actor, const char *host, const char *port)
{
	int err = host ? open_socket(host, port, &actor->socket) : start(actor);

	now.step = HELLO;
	return err || !host ? err : give(actor->socket);
}

/* Another program may connect, as one that looks for open ports. */
#define NO_COORDINATOR 1

__attribute__((noreturn)) static void act_for_host(int socket)
{
	limit_wait(socket, SO_RCVTIMEO, ANSWER_SECONDS);
	if (take(socket) || now.step != HELLO)
		_exit(NO_COORDINATOR);
	limit_wait(socket, SO_RCVTIMEO, 0);
	act(socket);
}

/* Serves one actor in a process of its own. 0 or errno. */
static int serve_one(int listener)
{
	int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid = peer < 0 ? -1 : fork();
	int err = pid < 0 ? errno : 0;

	if (!pid)
		act_for_host(peer);
	if (peer >= 0)
		close(peer);
	return err;
}

void actor_serve(const char *port)
{
	int fd, served = 0, running = 0, status, err = open_socket(NULL, port, &fd);
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	if (err)
		errx(EXIT_IMPOSSIBLE, "cannot listen on port %s: %s", port, actor_error(err));
	printf("listening on port %s\n", port);
	fflush(stdout);
	for (int waited = 0; running || (!served && waited < LISTEN_SECONDS * 10); waited++) {
		if (poll(&pollfd, 1, 100) > 0) {
			err = serve_one(fd);
			if (err && err != ECONNABORTED)
				errx(EXIT_IMPOSSIBLE, "cannot serve a connection to port %s: %s",
				     port, strerror(err));
			running += !err;
		}
		for (; running && waitpid(-1, &status, WNOHANG) > 0; running--)
			served += !WIFEXITED(status) || WEXITSTATUS(status) != NO_COORDINATOR;
	}
	if (!served)
		errx(EXIT_IMPOSSIBLE, "no host connected within %d s", LISTEN_SECONDS);
}
